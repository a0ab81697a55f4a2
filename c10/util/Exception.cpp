// Error classes and the text of messages.
#include "c10/util/Exception.h"

#include <charconv>
#include <sstream>
#include <utility>

namespace c10 {

Error::Error(std::string message, const char* file, int line) noexcept
    : message_(std::move(message)), file_(file), line_(line) {}

// Destructors are out of line so that each class has one vtable and one type_info, here.
Error::~Error() = default;
IndexError::~IndexError() = default;
ValueError::~ValueError() = default;
TypeError::~TypeError() = default;
NotImplementedError::~NotImplementedError() = default;
LinAlgError::~LinAlgError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;

namespace detail {

namespace {

template <class Number>
void append_number(std::string& text, Number value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  text.append(buffer, end);
}

// The shortest digits that read back to the same number; "1.0" rather than "1", as Python writes
// it.
template <class Real>
void append_real(std::string& text, Real value) {
  const size_t start = text.size();
  append_number(text, value);
  if (text.find_first_not_of("-0123456789", start) == std::string::npos) text += ".0";
}

/// Throws the class that the kind names.
[[noreturn]] void throw_kind(ErrorKind kind, std::string message, CheckSite site) {
  switch (kind) {
    case ErrorKind::IndexError: throw IndexError(std::move(message), site.file, site.line);
    case ErrorKind::ValueError: throw ValueError(std::move(message), site.file, site.line);
    case ErrorKind::TypeError: throw TypeError(std::move(message), site.file, site.line);
    case ErrorKind::NotImplementedError:
      throw NotImplementedError(std::move(message), site.file, site.line);
    case ErrorKind::LinAlgError: throw LinAlgError(std::move(message), site.file, site.line);
    case ErrorKind::OutOfMemoryError:
      throw OutOfMemoryError(std::move(message), site.file, site.line);
    case ErrorKind::Error: break;
  }

  throw Error(std::move(message), site.file, site.line);
}

}  // namespace

void append_streamed(std::string& text, const void* object, PrintObject print) {
  std::ostringstream stream;
  print(stream, object);
  text += stream.str();
}

/// Prints one part by its kind.
void append_part(std::string& text, const MessagePart& part) {
  using Kind = MessagePart::Kind;

  switch (part.kind) {
    case Kind::Text: text.append(part.text.data, part.text.size); break;
    case Kind::Character: text += static_cast<char>(part.integer); break;
    case Kind::Boolean: text += part.integer ? "True" : "False"; break;
    case Kind::Signed: append_number(text, part.integer); break;
    case Kind::Unsigned: append_number(text, static_cast<uint64_t>(part.integer)); break;
    case Kind::Real:
      part.real.is_float ? append_real(text, static_cast<float>(part.real.value))
                         : append_real(text, part.real.value);
      break;
    case Kind::Object: part.object.append(text, part.object.address); break;
  }
}

std::string concatenate(std::initializer_list<MessagePart> parts) {
  std::string text;
  for (const MessagePart& part : parts) append_part(text, part);
  return text;
}

void throw_error(ErrorKind kind, CheckSite site, std::initializer_list<MessagePart> parts) {
  std::string message = concatenate(parts);
  if (parts.size() == 0) {
    message = concatenate({"Expected ", site.condition, " to be true, but got false."});
  }
  throw_kind(kind, std::move(message), site);
}

void throw_internal_error(CheckSite site, std::initializer_list<MessagePart> parts) {
  const std::string details = concatenate(parts);
  throw Error(concatenate({"INTERNAL ASSERT FAILED: ", site.condition, " at ", site.file, ":",
                           site.line, details.empty() ? "" : ": ", details,
                           ". This is a bug in torch_py, please report it."}),
              site.file, site.line);
}

}  // namespace detail
}  // namespace c10
