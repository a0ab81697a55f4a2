// Relations between numbers: "size(0) of x times 2 is size(1) of y", "n / 10 < 0.5".
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::python::compiler {

/// A formula in postfix form over registers that hold ints. Written as a tuple of ("register", n),
/// constants and the names of operations: + - * // % == != < <= > >= max min and or not, and those
/// of real numbers: / ** float sqrt cos cosh exp log log2 sin sinh tan tanh.
class SizeRelation {
 public:
  /// Throws PythonError; `registers` receives the registers that are read.
  static SizeRelation parse(PyObject* formula, std::vector<uint32_t>& registers);

  /// Whether the value is not 0. False where a register holds no int, numbers overflow, a divisor
  /// is 0 or a function has no value.
  bool holds(PyObject* const* registers) const;

  /// An integer, or a real number.
  struct Number {
    bool is_real = false;
    int64_t integer = 0;
    double real = 0;
  };

 private:
  struct Step {
    enum Kind : uint8_t { Register, Constant, Operation } kind;
    uint8_t operation;
    Number value;  // of a constant, or the number of a register
  };
  std::optional<Number> evaluate(PyObject* const* registers) const;

  std::vector<Step> steps_;
  size_t depth_ = 0;
};

}  // namespace torch::python::compiler
