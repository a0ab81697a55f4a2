// Parses and evaluates relations between numbers.
#include "torch_py/csrc/compiler/guards/SizeRelation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

namespace torch::python::compiler {

namespace {

enum Operation : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Max,
  Min,
  And,
  Or,
  Quotient,
  Power,
  // Of one operand.
  Not,
  Float,
  Root,
  Cosine,
  HyperbolicCosine,
  Exponential,
  Logarithm,
  BinaryLogarithm,
  Sine,
  HyperbolicSine,
  Tangent,
  HyperbolicTangent
};
constexpr std::string_view kNames[] = {"+",    "-",   "*",     "//",   "%",   "==",   "!=",  "<",
                                       "<=",   ">",   ">=",    "max",  "min", "and",  "or",  "/",
                                       "**",   "not", "float", "sqrt", "cos", "cosh", "exp", "log",
                                       "log2", "sin", "sinh",  "tan",  "tanh"};

std::optional<uint8_t> find_operation(std::string_view name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<uint8_t>(found - kNames);
}

/// As Python does: rounded down, the remainder has the divisor's sign.
std::optional<int64_t> divide(int64_t a, int64_t b, bool remainder) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const int64_t rest = a % b;
  const bool adjust = rest != 0 && (rest < 0) != (b < 0);
  return remainder ? rest + (adjust ? b : 0) : a / b - (adjust ? 1 : 0);
}

std::optional<int64_t> unless(bool overflow, int64_t value) {
  return overflow ? std::nullopt : std::optional(value);
}

std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow = __builtin_add_overflow(a, b, &result);
  return unless(overflow, result);
}

std::optional<int64_t> subtract(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow = __builtin_sub_overflow(a, b, &result);
  return unless(overflow, result);
}

std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &result);
  return unless(overflow, result);
}

std::optional<int64_t> apply_to_integers(uint8_t operation, int64_t a, int64_t b) {
  // Arithmetic, comparisons, the rest.
  switch (operation) {
    case Add: return add(a, b);
    case Subtract: return subtract(a, b);
    case Multiply: return multiply(a, b);
    case Divide: return divide(a, b, false);
    case Modulo: return divide(a, b, true);

    case Equal: return a == b;
    case NotEqual: return a != b;
    case Less: return a < b;
    case LessEqual: return a <= b;
    case Greater: return a > b;
    case GreaterEqual: return a >= b;

    case Max: return std::max(a, b);
    case Min: return std::min(a, b);
    case And: return a != 0 && b != 0;
    case Or: return a != 0 || b != 0;
  }
  return std::nullopt;
}

// Real numbers
// ------------------------------------------------------------

using Number = SizeRelation::Number;

Number number_of(int64_t value) { return {false, value, 0}; }
Number number_of(double value) { return {true, 0, value}; }

/// Python raises an error instead of giving infinite numbers or none.
std::optional<Number> finite(double value) {
  return std::isfinite(value) ? std::optional(number_of(value)) : std::nullopt;
}

constexpr int64_t kLargestExact = int64_t(1) << 53;

/// A number as a real one; nothing for integers that are rounded.
std::optional<double> real_in(Number number) {
  if (number.is_real) return number.real;
  if (number.integer > kLargestExact || number.integer < -kLargestExact) return std::nullopt;
  return static_cast<double>(number.integer);
}

std::optional<Number> apply_to_reals(uint8_t operation, double a, double b) {
  // Arithmetic, comparisons, the rest.
  switch (operation) {
    case Add: return number_of(a + b);
    case Subtract: return number_of(a - b);
    case Multiply: return number_of(a * b);
    case Quotient: return b == 0 ? std::nullopt : std::optional(number_of(a / b));
    case Power: return finite(std::pow(a, b));

    case Equal: return number_of(int64_t(a == b));
    case NotEqual: return number_of(int64_t(a != b));
    case Less: return number_of(int64_t(a < b));
    case LessEqual: return number_of(int64_t(a <= b));
    case Greater: return number_of(int64_t(a > b));
    case GreaterEqual: return number_of(int64_t(a >= b));

    case Max: return number_of(std::max(a, b));
    case Min: return number_of(std::min(a, b));
  }
  return std::nullopt;
}

/// A function of Python's `math`: it is that of C.
double function_of(uint8_t operation, double x) {
  switch (operation) {
    case Float: return x;
    case Root: return std::sqrt(x);
    case Cosine: return std::cos(x);
    case HyperbolicCosine: return std::cosh(x);
    case Exponential: return std::exp(x);
    case Logarithm: return std::log(x);
    case BinaryLogarithm: return std::log2(x);
    case Sine: return std::sin(x);
    case HyperbolicSine: return std::sinh(x);
    case Tangent: return std::tan(x);
    case HyperbolicTangent: return std::tanh(x);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<Number> apply(uint8_t operation, Number a, Number b) {
  const bool is_real = a.is_real || b.is_real || operation == Quotient || operation == Power;
  if (!is_real) {
    const auto found = apply_to_integers(operation, a.integer, b.integer);
    return found ? std::optional(number_of(*found)) : std::nullopt;
  }
  const auto left = real_in(a), right = real_in(b);
  return left && right ? apply_to_reals(operation, *left, *right) : std::nullopt;
}

std::optional<Number> apply(uint8_t operation, Number a) {
  if (operation == Not) return number_of(int64_t(a.is_real ? a.real == 0 : a.integer == 0));
  const auto operand = real_in(a);
  if (!operand) return std::nullopt;
  return finite(function_of(operation, *operand));
}

// Formulas
// ------------------------------------------------------------

std::optional<int64_t> integer_in(PyObject* object) {
  if (object == nullptr || !PyLong_Check(object)) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return unless(overflow != 0, value);
}

[[noreturn]] void refuse(Py_ssize_t position, const char* why) {
  throw_python(PyExc_ValueError, "GuardProgram: size_relation, position %zd: %s", position, why);
}

/// A constant of a formula; nothing for other objects.
std::optional<Number> constant_in(PyObject* token) {
  if (PyFloat_Check(token)) return number_of(PyFloat_AS_DOUBLE(token));
  if (const auto integer = integer_in(token)) return number_of(*integer);
  if (!PyLong_Check(token)) return std::nullopt;
  const double large = PyLong_AsDouble(token);
  if (!PyErr_Occurred()) return number_of(large);
  PyErr_Clear();
  return number_of(_PyLong_Sign(token) * std::numeric_limits<double>::infinity());
}

/// n of ("register", n); nothing for other objects.
std::optional<int64_t> register_in(PyObject* token) {
  if (!PyTuple_Check(token) || PyTuple_GET_SIZE(token) != 2) return std::nullopt;
  PyObject* word = PyTuple_GET_ITEM(token, 0);
  if (!PyUnicode_Check(word) || to_string_view(word) != "register") return std::nullopt;
  return integer_in(PyTuple_GET_ITEM(token, 1));
}

}  // namespace

SizeRelation SizeRelation::parse(PyObject* formula, std::vector<uint32_t>& registers) {
  if (!PyTuple_Check(formula))
    throw_python(PyExc_TypeError, "GuardProgram: a size_relation must be a tuple, not %s",
                 type_name(formula));

  SizeRelation relation;
  size_t depth = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(formula); ++i) {
    PyObject* token = PyTuple_GET_ITEM(formula, i);
    if (PyUnicode_Check(token)) {
      const auto operation = find_operation(to_string_view(token));
      if (!operation) refuse(i, "unknown operation");
      const size_t operands = *operation >= Not ? 1 : 2;
      if (depth < operands) refuse(i, "too few operands");
      depth -= operands - 1;
      relation.steps_.push_back({Step::Operation, *operation, {}});
      continue;
    }

    const auto number = register_in(token);
    const auto constant = constant_in(token);
    if (!number && !constant)
      refuse(i, "expected an operation, a float, an int of 64 bits or (\"register\", n)");
    if (number && (*number < 0 || *number > UINT32_MAX)) refuse(i, "no such register");
    if (number) registers.push_back(static_cast<uint32_t>(*number));
    relation.steps_.push_back(
        {number ? Step::Register : Step::Constant, 0, number ? number_of(*number) : *constant});
    relation.depth_ = std::max(relation.depth_, ++depth);
  }

  if (depth != 1) refuse(PyTuple_GET_SIZE(formula), "the formula must leave one value");
  return relation;
}

std::optional<Number> SizeRelation::evaluate(PyObject* const* registers) const {
  c10::SmallVector<Number, 16> stack(depth_);
  size_t depth = 0;

  for (const Step& step : steps_) {
    if (step.kind == Step::Constant) {
      stack[depth++] = step.value;
      continue;
    }
    if (step.kind == Step::Register) {
      const auto value = integer_in(registers[step.value.integer]);
      if (!value) return std::nullopt;
      stack[depth++] = number_of(*value);
      continue;
    }

    const bool has_two = step.operation < Not;
    const auto value = has_two ? apply(step.operation, stack[depth - 2], stack[depth - 1])
                               : apply(step.operation, stack[depth - 1]);
    if (!value) return std::nullopt;
    depth -= has_two ? 1 : 0;
    stack[depth - 1] = *value;
  }
  return stack[0];
}

bool SizeRelation::holds(PyObject* const* registers) const {
  const auto value = evaluate(registers);
  return value && (value->is_real ? value->real != 0 : value->integer != 0);
}

}  // namespace torch::python::compiler
