// torch_py._C._compiler.GuardProgram.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/compiler/guards/Rows.h"

namespace torch::python::compiler {

bool is_guard_program(PyObject* object);

/// The rows of an object that satisfies is_guard_program().
Rows& rows_of(PyObject* program);

}  // namespace torch::python::compiler
