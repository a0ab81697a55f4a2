// Error classes, checks (TORCH_CHECK...) and their messages.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "c10/util/Export.h"

// A check that holds costs one predicted branch: the parts of the message are packed (MessagePart)
// and turned into text out of line, only after the condition has failed. The header includes no
// stream; see Note [Printing in messages].

namespace c10 {

/// Base of all errors that the library throws; a RuntimeError in Python.
class TORCH_PY_API Error : public std::exception {
 public:
  explicit Error(std::string message, const char* file = "", int line = 0) noexcept;
  ~Error() override;
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  void set_message(std::string message) noexcept { message_ = std::move(message); }
  const char* file() const noexcept { return file_; }
  int line() const noexcept { return line_; }

 private:
  std::string message_;
  const char* file_;  // where the error was thrown, for debugging
  int line_;
};

#define C10_DECLARE_ERROR(Name)                  \
  class TORCH_PY_API Name final : public Error { \
   public:                                       \
    using Error::Error;                          \
    ~Name() override;                            \
  }
C10_DECLARE_ERROR(IndexError);
C10_DECLARE_ERROR(ValueError);
C10_DECLARE_ERROR(TypeError);
C10_DECLARE_ERROR(NotImplementedError);
C10_DECLARE_ERROR(LinAlgError);
C10_DECLARE_ERROR(OutOfMemoryError);
#undef C10_DECLARE_ERROR

enum class ErrorKind : uint8_t {
  Error,
  IndexError,
  ValueError,
  TypeError,
  NotImplementedError,
  LinAlgError,
  OutOfMemoryError
};

namespace detail {

class MessagePart;
using AppendObject = void (*)(std::string&, const void*);
using PrintObject = void (*)(std::ostream&, const void*);
TORCH_PY_API void append_streamed(std::string& text, const void* object, PrintObject print);
TORCH_PY_API void append_part(std::string& text, const MessagePart& part);

// Note [Printing in messages]
// Text, numbers and booleans (True, False) are printed here; a range prints as [a, b, c]. Any other
// type T must have, in its own namespace, `void append_to(std::string&, const T&)` or an operator<<
// to std::ostream, for which Exception.cpp makes a stream. An enum with neither prints its number.
template <class T>
concept HasAppendTo = requires(std::string& text, const T& value) { append_to(text, value); };
template <class T>
concept HasStreamOperator = requires(std::ostream& stream, const T& value) { stream << value; };
template <class T>
concept IsRange = requires(const T& value) {
  value.begin();
  value.end();
};
template <class T>
concept IsSimplePart = std::is_arithmetic_v<T> || std::is_convertible_v<const T&, std::string_view>;

template <class T>
void append_object(std::string& text, const void* object);

/// One part of a message. Numbers are kept by value, so that checking a local variable does not
/// force it into memory; objects by address.
class MessagePart {
 public:
  enum class Kind : uint8_t { Text, Character, Boolean, Signed, Unsigned, Real, Object };

  C10_ALWAYS_INLINE_ON_HOST MessagePart(const char* text)
      : kind(Kind::Text), text{text, text ? __builtin_strlen(text) : 0} {}
  C10_ALWAYS_INLINE_ON_HOST MessagePart(std::string_view view)
      : kind(Kind::Text), text{view.data(), view.size()} {}
  C10_ALWAYS_INLINE_ON_HOST MessagePart(const std::string& string)
      : kind(Kind::Text), text{string.data(), string.size()} {}
  template <class T>
    requires std::is_arithmetic_v<T>
  C10_ALWAYS_INLINE_ON_HOST MessagePart(T value) : kind(kind_of<T>()) {
    if constexpr (std::is_floating_point_v<T>) {
      real = {static_cast<double>(value), sizeof(T) == sizeof(float)};
    } else {
      integer = static_cast<int64_t>(value);
    }
  }
  template <class T>
    requires(!IsSimplePart<T>)
  C10_ALWAYS_INLINE_ON_HOST MessagePart(const T& value)
      : kind(Kind::Object), object{&value, &append_object<T>} {}

  Kind kind;
  union {
    struct {
      const char* data;
      size_t size;
    } text;
    struct {
      double value;
      bool is_float;
    } real;
    struct {
      const void* address;
      AppendObject append;
    } object;
    int64_t integer;
  };

 private:
  template <class T>
  static constexpr Kind kind_of() {
    if (std::is_same_v<T, bool>) return Kind::Boolean;
    if (std::is_same_v<T, char>) return Kind::Character;
    if (std::is_floating_point_v<T>) return Kind::Real;
    return std::is_signed_v<T> ? Kind::Signed : Kind::Unsigned;
  }
};

/// Prints an object by the first of these that its type has: append_to, operator<<, a range.
template <class T>
void append_object(std::string& text, const void* object) {
  const T& value = *static_cast<const T*>(object);

  if constexpr (HasAppendTo<T>) {
    append_to(text, value);
  } else if constexpr (HasStreamOperator<T>) {
    append_streamed(text, object, [](std::ostream& stream, const void* item) {
      stream << *static_cast<const T*>(item);
    });
  } else if constexpr (IsRange<T>) {
    const char* separator = "[";
    for (const auto& item : value) {
      text += separator;
      append_part(text, item);
      separator = ", ";
    }
    text += *separator == '[' ? "[]" : "]";
  } else {
    static_assert(
        std::is_enum_v<T>,
        "define void append_to(std::string&, const T&) in the type's namespace to print it");
    append_part(text, static_cast<std::underlying_type_t<T>>(value));
  }
}

/// The place of a check and its condition as text.
struct CheckSite {
  const char* file;
  int line;
  const char* condition;
};

[[noreturn, gnu::cold]] TORCH_PY_API void throw_error(ErrorKind kind, CheckSite site,
                                                      std::initializer_list<MessagePart> parts);
[[noreturn, gnu::cold]] TORCH_PY_API void
throw_internal_error(CheckSite site, std::initializer_list<MessagePart> parts);
TORCH_PY_API std::string concatenate(std::initializer_list<MessagePart> parts);

}  // namespace detail

/// The parts as one string, printed as in error messages.
template <class... Parts>
std::string str(const Parts&... parts) {
  return detail::concatenate({detail::MessagePart(parts)...});
}

}  // namespace c10

/// Throws c10::KIND if the condition does not hold; the parts make up the message.
#define TORCH_CHECK_WITH(KIND, condition, ...)                                             \
  do {                                                                                     \
    if (C10_UNLIKELY(!(condition)))                                                        \
      ::c10::detail::throw_error(::c10::ErrorKind::KIND, {__FILE__, __LINE__, #condition}, \
                                 {__VA_ARGS__});                                           \
  } while (0)
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  TORCH_CHECK_WITH(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  TORCH_CHECK_WITH(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  TORCH_CHECK_WITH(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) \
  TORCH_CHECK_WITH(LinAlgError, condition __VA_OPT__(, ) __VA_ARGS__)

/// Throws unconditionally, and tells the compiler so: no return value is needed after it.
#define TORCH_THROW(KIND, ...) \
  ::c10::detail::throw_error(::c10::ErrorKind::KIND, {__FILE__, __LINE__, ""}, {__VA_ARGS__})

/// Checks what no input should be able to break: the message names file, line and condition.
#define TORCH_INTERNAL_ASSERT(condition, ...)                                               \
  do {                                                                                      \
    if (C10_UNLIKELY(!(condition)))                                                         \
      ::c10::detail::throw_internal_error({__FILE__, __LINE__, #condition}, {__VA_ARGS__}); \
  } while (0)

#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) \
  do {                                                   \
  } while (false && (condition))
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) \
  TORCH_INTERNAL_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
