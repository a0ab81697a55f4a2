// Relations between integers: "size(0) of x times 2 is size(1) of y".
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::python::compiler {

/// A formula in postfix form over registers that hold ints. Written as a tuple of ("register", n),
/// int constants and the names of operations: + - * // % == != < <= > >= max min and or not.
class SizeRelation {
 public:
  /// Throws PythonError; `registers` receives the registers that are read.
  static SizeRelation parse(PyObject* formula, std::vector<uint32_t>& registers);

  /// Whether the value is not 0. False where a register holds no int, numbers overflow or a divisor
  /// is 0.
  bool holds(PyObject* const* registers) const;

 private:
  struct Step {
    enum Kind : uint8_t { Register, Constant, Operation } kind;
    uint8_t operation;
    int64_t value;
  };
  std::optional<int64_t> evaluate(PyObject* const* registers) const;

  std::vector<Step> steps_;
  size_t depth_ = 0;
};

}  // namespace torch::python::compiler
