// A parser of schemas by recursive descent.
#include "c10/dispatch/Schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "c10/util/Exception.h"

namespace c10 {

namespace {

constexpr std::pair<std::string_view, SchemaType> kTypes[] = {
    {"Tensor", SchemaType::Tensor},
    {"Scalar", SchemaType::Scalar},
    {"int", SchemaType::Int},
    {"SymInt", SchemaType::Int},
    {"float", SchemaType::Float},
    {"SymFloat", SchemaType::Float},
    {"bool", SchemaType::Bool},
    {"SymBool", SchemaType::Bool},
    {"complex", SchemaType::Scalar},
    {"number", SchemaType::Scalar},
    {"str", SchemaType::String},
    {"ScalarType", SchemaType::ScalarType},
    {"Layout", SchemaType::Layout},
    {"Device", SchemaType::Device},
    {"MemoryFormat", SchemaType::MemoryFormat},
    {"Generator", SchemaType::Generator},
    {"Any", SchemaType::Object},
    {"AnyEnumType", SchemaType::Object},
    {"Dimname", SchemaType::Object},
    {"DimVector", SchemaType::Object},
    {"QScheme", SchemaType::Object},
    {"Storage", SchemaType::Object},
    {"Stream", SchemaType::Object},
};

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  OperatorSchema parse() {
    OperatorSchema schema;
    schema.name = name(":_");
    if (accept(".")) schema.overload = name("_");

    expect("(");
    parse_arguments(schema.arguments);
    expect("->");
    parse_results(schema.results);

    skip_spaces();
    check(position_ == text_.size(), "the end of the schema");
    return schema;
  }

 private:
  void parse_arguments(std::vector<SchemaValue>& arguments) {
    bool keyword_only = false;
    if (accept(")")) return;

    do {
      if (accept("*")) {
        keyword_only = true;
        continue;
      }

      SchemaValue argument = parse_type();
      argument.name = parse_argument_name(arguments);
      argument.is_keyword_only = keyword_only;
      if (accept("=")) argument.default_text = parse_default();
      check(argument.default_text || keyword_only || arguments.empty() ||
                !arguments.back().default_text,
            "a default, as the argument before has one,");
      arguments.push_back(std::move(argument));
    } while (accept(","));

    expect(")");
  }

  std::string parse_argument_name(const std::vector<SchemaValue>& before) {
    std::string found = name("_");
    const bool is_new = std::none_of(before.begin(), before.end(),
                                     [&](const SchemaValue& other) { return other.name == found; });
    check(is_new, "an argument of another name");
    return found;
  }

  void parse_results(std::vector<SchemaValue>& results) {
    if (!accept("(")) {
      results.push_back(parse_result());
      return;
    }
    if (accept(")")) return;

    do results.push_back(parse_result());
    while (accept(","));
    expect(")");
  }

  SchemaValue parse_result() {
    SchemaValue result = parse_type();
    skip_spaces();
    if (is_word_at(position_)) result.name = name("_");
    return result;
  }

  SchemaValue parse_type() {
    skip_spaces();
    const size_t start = position_;
    SchemaValue value;
    value.type = parse_base_type();
    parse_alias(value);

    const bool optional_before_list = accept("?");
    if (accept("[")) {
      value.is_list = true;
      value.has_optional_elements = optional_before_list;
      skip_spaces();
      if (position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_])))
        value.list_size = parse_list_size();
      expect("]");
      value.is_optional = accept("?");
    } else {
      value.is_optional = optional_before_list;
    }
    if (accept("[")) parse_outer_lists(value);

    size_t end = position_;
    while (text_[end - 1] == ' ') --end;
    value.type_text = std::string(text_.substr(start, end - start));
    return value;
  }

  int parse_list_size() {
    constexpr int kLargest = 1 << 16;
    const std::string digits = word("");
    int size = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const bool is_number = error == std::errc() && stop == digits.data() + digits.size();
    check(is_number && size <= kLargest, "the length of a list before this place");
    return size;
  }

  SchemaType parse_base_type() {
    const size_t start = position_;
    const std::string base = is_word_at(position_) ? word(".") : std::string();
    if (base.starts_with("__torch__.")) return SchemaType::Object;
    if (base == "Dict" && accept("(")) {
      check(!is_in_dict_, "the type of keys or values, which is not another Dict,");
      is_in_dict_ = true;
      parse_type();
      expect(",");
      parse_type();
      expect(")");
      is_in_dict_ = false;
      return SchemaType::Object;
    }

    const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const auto& row) { return row.first == base; });
    TORCH_CHECK(found != std::end(kTypes), "unknown type specifier '", base, "' in the schema\n",
                text_with_mark_at(start));
    return found->second;
  }

  /// Tensor[][]
  void parse_outer_lists(SchemaValue& value) {
    value.type = SchemaType::Object;
    value.is_list = value.has_optional_elements = false;
    do {
      expect("]");
      value.is_optional = accept("?");
    } while (accept("["));
  }

  /// (a), (a!), (a -> *), (a! -> b|c)
  void parse_alias(SchemaValue& value) {
    if (!accept("(")) return;
    value.alias = accept("*") ? "*" : word("_|");
    value.is_written = accept("!");
    if (accept("->") && !accept("*")) word("_|");
    expect(")");
  }

  /// Everything up to the comma or the parenthesis that ends the argument.
  std::string parse_default() {
    skip_spaces();
    const size_t start = position_;
    int depth = 0;
    char quote = 0;

    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (quote != 0) {
        if (c == quote) quote = 0;
        continue;
      }
      if (c == '"' || c == '\'') quote = c;
      if (depth == 0 && (c == ',' || c == ')')) break;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
    }

    size_t end = position_;
    while (end > start && text_[end - 1] == ' ') --end;
    check(end > start, "a default value");
    return std::string(text_.substr(start, end - start));
  }

  // --- Tokens ---

  bool is_word_at(size_t position) const {
    if (position >= text_.size()) return false;
    const auto c = static_cast<unsigned char>(text_[position]);
    return std::isalnum(c) != 0 || c == '_';
  }

  /// Letters, digits, underscores and the characters of `more`.
  std::string word(std::string_view more) {
    skip_spaces();
    const size_t start = position_;
    while (is_word_at(position_) ||
           (position_ < text_.size() && more.find(text_[position_]) != std::string_view::npos))
      ++position_;
    check(position_ > start, "a name");
    return std::string(text_.substr(start, position_ - start));
  }

  /// A word that does not begin with a digit.
  std::string name(std::string_view more) {
    skip_spaces();
    const bool is_digit =
        position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_])) != 0;
    check(!is_digit, "a name");
    return word(more);
  }

  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  void expect(std::string_view token) { check(accept(token), token); }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  void check(bool condition, std::string_view expected) const {
    if (condition) return;
    TORCH_CHECK_VALUE(false, "expected ", expected, " in the schema\n",
                      text_with_mark_at(position_));
  }

  std::string text_with_mark_at(size_t position) const {
    return std::string(text_) + "\n" + std::string(position, ' ') + "^";
  }

  std::string_view text_;
  size_t position_ = 0;
  bool is_in_dict_ = false;
};

}  // namespace

int OperatorSchema::position(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return static_cast<int>(i);
  }
  return -1;
}

bool OperatorSchema::is_mutable() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const SchemaValue& argument) { return argument.is_written; });
}

OperatorSchema parse_schema(std::string_view text) { return SchemaParser(text).parse(); }

}  // namespace c10
