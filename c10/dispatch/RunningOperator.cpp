// The operator that a thread runs, and what its schema says about it.
#include "c10/dispatch/RunningOperator.h"

#include <algorithm>
#include <string_view>

namespace c10 {

namespace {

/// The text of one parameter: "Tensor(a!) self" of the schema; empty if there are not as many. A
/// "*" is not a parameter.
std::string_view parameter_text(std::string_view schema, int position) {
  const size_t open = schema.find('(');
  if (open == std::string_view::npos) return {};

  int depth = 0;
  size_t begin = open + 1;
  for (size_t i = begin; i < schema.size(); ++i) {
    const char c = schema[i];
    const bool is_end = depth == 0 && (c == ',' || c == ')');
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (!is_end) continue;

    std::string_view text = schema.substr(begin, i - begin);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text != "*" && position-- == 0) return text;
    if (c == ')') return {};
    begin = i + 1;
  }
  return {};
}

}  // namespace

constinit thread_local const RunningOperator* RunningOperator::innermost_ = nullptr;

std::string base_name(const OperatorEntry& entry) {
  const std::string_view name = entry.name();
  return std::string(name.substr(0, name.find('.')));
}

std::string parameter_name(const OperatorEntry& entry, int position) {
  if (position < 0) return {};
  const std::string_view text = parameter_text(entry.schema(), position);

  // "int[2] stride=[1, 1]": the word before the default.
  const std::string_view declared = text.substr(0, text.find('='));
  const size_t space = declared.rfind(' ');
  return std::string(space == std::string_view::npos ? declared : declared.substr(space + 1));
}

}  // namespace c10
