// The defaults of schemas as values.
#include "aten/dispatch/DefaultValue.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "c10/util/Exception.h"

namespace at {

namespace {

using c10::SchemaType;
using c10::SchemaValue;

constexpr std::pair<std::string_view, int64_t> kReductions[] = {
    {"None", 0}, {"Mean", 1}, {"Sum", 2}};
constexpr std::pair<std::string_view, MemoryFormat> kFormats[] = {
    {"contiguous_format", MemoryFormat::Contiguous},
    {"preserve_format", MemoryFormat::Preserve},
    {"channels_last", MemoryFormat::ChannelsLast},
    {"channels_last_3d", MemoryFormat::ChannelsLast3d}};

[[noreturn]] void throw_unfit(std::string_view text, const SchemaValue& argument) {
  TORCH_CHECK_VALUE(false, "the default '", text, "' of argument '", argument.name,
                    "' is not of type ", argument.type_text);
  __builtin_unreachable();
}

template <class T, size_t N>
T named(std::string_view text, const std::pair<std::string_view, T> (&names)[N],
        const SchemaValue& argument) {
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  throw_unfit(text, argument);
}

int64_t parse_int(std::string_view text, const SchemaValue& argument) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  return named(text, kReductions, argument);
}

double parse_float(std::string_view text, const SchemaValue& argument) {
  const std::string copy(text);
  char* stop = nullptr;
  const double value = std::strtod(copy.c_str(), &stop);
  if (stop != copy.c_str() + copy.size()) throw_unfit(text, argument);
  return value;
}

bool parse_bool(std::string_view text, const SchemaValue& argument) {
  if (text != "True" && text != "False") throw_unfit(text, argument);
  return text == "True";
}

Scalar parse_scalar(std::string_view text, const SchemaValue& argument) {
  if (text == "True" || text == "False") return Scalar(text == "True");
  const bool is_int = text.find_first_not_of("+-0123456789") == std::string_view::npos;
  return is_int ? Scalar(parse_int(text, argument)) : Scalar(parse_float(text, argument));
}

std::string parse_string(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'');
  return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
}

ScalarType parse_dtype(std::string_view text, const SchemaValue& argument) {
  for (int i = 0; i < c10::kNumScalarTypes; ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    if (text == dtype_name(dtype)) return dtype;
  }
  if (text == "long") return kLong;
  if (text == "float") return kFloat;
  throw_unfit(text, argument);
}

bool is_list(std::string_view text) { return text.starts_with('[') || text.starts_with('('); }

/// The elements of "[1, 2]" or "(1, 2)"; of "1", the one element.
std::vector<std::string_view> elements(std::string_view text) {
  if (!is_list(text)) return {text};
  text = text.substr(1, text.size() - 2);

  std::vector<std::string_view> found;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view element = text.substr(0, comma);
    while (!element.empty() && element.front() == ' ') element.remove_prefix(1);
    found.push_back(element);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return found;
}

Value parse_value(std::string_view text, const SchemaValue& argument);

Value parse_list(std::string_view text, const SchemaValue& argument) {
  const std::vector<std::string_view> parts = elements(text);

  switch (argument.type) {
    case SchemaType::Int: {
      DimVector numbers;
      for (const std::string_view part : parts) numbers.push_back(parse_int(part, argument));
      // int[2] n=0: the number stands for both.
      while (!is_list(text) && numbers.size() < static_cast<size_t>(argument.list_size))
        numbers.push_back(numbers[0]);
      return numbers;
    }
    case SchemaType::Float: {
      Value::Doubles numbers;
      for (const std::string_view part : parts) numbers.push_back(parse_float(part, argument));
      return numbers;
    }
    case SchemaType::Scalar: {
      Value::Scalars numbers;
      for (const std::string_view part : parts) numbers.push_back(parse_scalar(part, argument));
      return numbers;
    }
    case SchemaType::Tensor:
      if (parts.empty()) return Value::Tensors();
      throw_unfit(text, argument);
    default: {
      Value::List values;
      for (const std::string_view part : parts) values.push_back(parse_value(part, argument));
      return values;
    }
  }
}

/// A default, or an element of a list.
Value parse_value(std::string_view text, const SchemaValue& argument) {
  switch (argument.type) {
    case SchemaType::Int: return parse_int(text, argument);
    case SchemaType::Float: return parse_float(text, argument);
    case SchemaType::Bool: return parse_bool(text, argument);
    case SchemaType::Scalar: return parse_scalar(text, argument);
    case SchemaType::String: return parse_string(text);
    case SchemaType::ScalarType: return parse_dtype(text, argument);

    case SchemaType::MemoryFormat: return named(text, kFormats, argument);
    case SchemaType::Device: return Device(text);
    case SchemaType::Layout:
      if (text == "strided" || text == "Strided") return Layout::Strided;
      break;

    case SchemaType::Tensor:
    case SchemaType::Generator:
    case SchemaType::Object: break;
  }
  throw_unfit(text, argument);
}

bool are_equal(const Value& given, const Value& expected) {
  const auto equals = [&]<class T>(const T& value) {
    if (!expected.is<T>()) return false;
    const T& other = expected.get<T>();

    if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Generator*> ||
                  std::is_same_v<T, Value::Scalars> || std::is_same_v<T, Value::Object>) {
      return false;
    } else if constexpr (std::is_same_v<T, Value::Tensors>) {
      return value.empty() && other.empty();
    } else if constexpr (std::is_same_v<T, Value::List>) {
      return std::equal(value.begin(), value.end(), other.begin(), other.end(), are_equal);
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return value.kind() == other.kind() && value.equal(other.to_double());
    } else if constexpr (std::is_same_v<T, DimVector>) {
      return IntArrayRef(value) == IntArrayRef(other);
    } else {
      return value == other;
    }
  };
  return std::visit(equals, given.variant());
}

}  // namespace

Value default_value(const SchemaValue& argument) {
  const std::string_view text = *argument.default_text;
  if (text == "None" && (argument.is_optional || argument.type == SchemaType::Object)) return {};
  return argument.is_list ? parse_list(text, argument) : parse_value(text, argument);
}

bool is_default(const Value& value, const SchemaValue& argument) {
  if (!argument.default_text) return false;
  return are_equal(value, default_value(argument));
}

}  // namespace at
