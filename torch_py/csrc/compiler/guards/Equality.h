// Equality of constants that a program was compiled for.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python::compiler {

/// Whether two objects are of the same type and equal. Stricter than ==: 1 is not True or 1.0, 0.0
/// is not -0.0, and a NaN is itself; so are the elements of tuples. -1 with an exception set if a
/// comparison raised one.
int same_value(PyObject* a, PyObject* b);

}  // namespace torch::python::compiler
