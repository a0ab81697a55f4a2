// Values of boxed calls as Python objects, and the reverse.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <string>

#include "aten/core/Value.h"
#include "c10/dispatch/OperatorEntry.h"

namespace torch::python {

/// "aten::add" of add.Tensor, as messages and profiles name it.
std::string function_name(const c10::OperatorEntry& entry);

/// A new reference. A wrapped number becomes the number; lists become lists.
PyObject* wrap_value(const at::Value& value);

/// An object as a value of the type that the schema names. Throws PythonError with PyTorch's
/// RuntimeError, which names the operator, the argument and the object, if it is of another type.
at::Value to_value(PyObject* object, const c10::SchemaValue& argument,
                   const c10::OperatorEntry& entry, size_t position);

/// The arguments of a call from Python, in the order of the schema, defaults included.
void push_arguments(at::Stack& stack, const c10::OperatorEntry& entry, PyObject* const* args,
                    Py_ssize_t nargs, PyObject* kwnames);

/// What an operator returned, as Python sees it: None, one object or a tuple. Leaves the stack
/// empty.
PyObject* wrap_results(at::Stack& stack);
/// What a Python function returned for an operator.
void push_results(at::Stack& stack, const c10::OperatorEntry& entry, PyObject* results);

}  // namespace torch::python
