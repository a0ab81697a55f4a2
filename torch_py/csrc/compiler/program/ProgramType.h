// torch_py._C._compiler.Program: a compiled graph as a Python callable.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <memory>

#include "torch_py/csrc/compiler/program/Program.h"

namespace torch::python {

bool is_program(PyObject* object);
/// The program behind such an object; null for other objects.
std::shared_ptr<const programs::Program> program_of(PyObject* object);

void init_program(PyObject* module);

}  // namespace torch::python
