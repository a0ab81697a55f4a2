// Python functions among the steps of programs.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <memory>

#include "torch_py/csrc/compiler/program/Steps.h"

namespace torch::python {

/// Keeps a Python object for a program, which may end on any thread.
std::shared_ptr<void> keep_object(PyObject* object);

/// A call of a Python function; slots and formulas may be anywhere in the tuple and the dict of its
/// arguments.
programs::CallExtern read_function(PyObject* function, PyObject* args, PyObject* kwargs,
                                   PyObject* results, programs::Description& description);

}  // namespace torch::python
