// Integers of a program that follow from the sizes of its inputs.
#include "torch_py/csrc/compiler/program/Formula.h"

#include <algorithm>

#include "c10/util/Exception.h"
#include "c10/util/SmallVector.h"

namespace torch::programs {

namespace {

using Kind = FormulaStep::Kind;
using Numbers = c10::SmallVector<int64_t, 16>;

bool is_operand(Kind kind) { return kind == Kind::Number || kind == Kind::Symbol; }

/// The quotient rounded towards minus infinity, as in Python.
int64_t floor_divide(int64_t a, int64_t b) {
  const bool is_rounded_up = a % b != 0 && (a < 0) != (b < 0);
  return a / b - (is_rounded_up ? 1 : 0);
}

/// Whether the result fits in 64 bits.
bool calculate(Kind kind, int64_t a, int64_t b, int64_t& result) {
  const bool divides = kind == Kind::Divide || kind == Kind::Modulo;
  TORCH_CHECK_VALUE(!divides || b != 0, "a formula of a program divides by zero");
  if (divides && a == INT64_MIN && b == -1) return false;

  switch (kind) {
    case Kind::Add: return !__builtin_add_overflow(a, b, &result);
    case Kind::Subtract: return !__builtin_sub_overflow(a, b, &result);
    case Kind::Multiply: return !__builtin_mul_overflow(a, b, &result);
    case Kind::Divide: result = floor_divide(a, b); return true;
    case Kind::Modulo: result = a - floor_divide(a, b) * b; return true;
    case Kind::Max: result = std::max(a, b); return true;
    case Kind::Min: result = std::min(a, b); return true;
    default: return false;
  }
}

int64_t value_of(const Formula& formula, c10::ArrayRef<int64_t> symbols) {
  Numbers stack;
  for (const FormulaStep& step : formula) {
    if (is_operand(step.kind)) {
      const bool is_symbol = step.kind == Kind::Symbol;
      stack.push_back(is_symbol ? symbols[static_cast<size_t>(step.value)] : step.value);
      continue;
    }
    const int64_t b = stack.back();
    stack.pop_back();
    const int64_t a = stack.back();
    TORCH_CHECK_VALUE(calculate(step.kind, a, b, stack.back()),
                      "a formula of a program overflows with the sizes ", symbols);
  }
  return stack.back();
}

void check_formula(const Formula& formula, size_t symbols) {
  int64_t depth = 0;
  for (const FormulaStep& step : formula) {
    const bool is_known =
        step.kind != Kind::Symbol || (step.value >= 0 && static_cast<size_t>(step.value) < symbols);
    TORCH_CHECK_VALUE(is_known, "a formula uses s", step.value, ", but the program has ", symbols,
                      " symbols");
    TORCH_CHECK_VALUE(is_operand(step.kind) || depth >= 2,
                      "a formula has an operator with fewer than two operands before it");
    depth += is_operand(step.kind) ? 1 : -1;
  }
  TORCH_CHECK_VALUE(depth == 1, "a formula must leave one number, not ", depth);
}

std::string join(Kind kind, const std::string& a, const std::string& b) {
  switch (kind) {
    case Kind::Add: return "(" + a + " + " + b + ")";
    case Kind::Subtract: return "(" + a + " - " + b + ")";
    case Kind::Multiply: return a + "*" + b;
    case Kind::Divide: return "(" + a + " // " + b + ")";
    case Kind::Modulo: return "(" + a + " % " + b + ")";
    case Kind::Max: return "max(" + a + ", " + b + ")";
    default: return "min(" + a + ", " + b + ")";
  }
}

}  // namespace

Integer Formulas::add(Formula formula, size_t symbols) {
  check_formula(formula, symbols);
  if (formula.size() == 1 && formula[0].kind == Kind::Number) return {formula[0].value, false};

  const auto known = std::find(formulas_.begin(), formulas_.end(), formula);
  const auto place = known - formulas_.begin();
  if (known == formulas_.end()) formulas_.push_back(std::move(formula));
  return {place, true};
}

std::vector<int64_t> Formulas::evaluate(c10::ArrayRef<int64_t> symbols) const {
  std::vector<int64_t> values;
  values.reserve(formulas_.size());
  for (const Formula& formula : formulas_) values.push_back(value_of(formula, symbols));
  return values;
}

std::string Formulas::text(const Integer& integer) const {
  if (!integer.is_formula) return std::to_string(integer.number);

  std::vector<std::string> stack;
  for (const FormulaStep& step : formulas_[static_cast<size_t>(integer.number)]) {
    if (is_operand(step.kind)) {
      stack.push_back((step.kind == Kind::Symbol ? "s" : "") + std::to_string(step.value));
      continue;
    }
    const std::string b = std::move(stack.back());
    stack.pop_back();
    stack.back() = join(step.kind, stack.back(), b);
  }
  return stack.back();
}

}  // namespace torch::programs
