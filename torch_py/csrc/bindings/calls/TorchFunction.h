// __torch_function__: types (and modes) that see a call before it runs.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <string>

#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

// Plain tensors pay one pointer comparison for it, in Arguments.

namespace torch::python {

/// Whether `object` (not exactly a Tensor) takes calls over: its type defines __torch_function__
/// and is not opted out.
TORCH_PY_API bool has_torch_function(PyObject* object);

/// Opts a new class out of `__torch_function__` if it has only that of `base`: a class that handles
/// operators below autograd gets instances from there, not from converted results.
void opt_out_of_inherited_torch_function(PyTypeObject* type, PyTypeObject* base);

inline bool overrides(PyObject* object) {
  return !is_tensor_exact(object) && has_torch_function(object);
}

/// Whether this thread is in a TorchFunctionMode (and modes are not turned off): then every call
/// goes to call_torch_function.
TORCH_PY_API bool in_function_mode();

/// Whether __torch_function__ of a mode or of the tensor's type sees accesses to its members.
inline bool is_intercepted(PyObject* self) {
  return (has_function_modes() && in_function_mode()) ||
         (!is_plain_tensor(self) && has_torch_function(self));
}

/// Lets the mode entered last handle a call, outside of that mode:
/// __torch_function__(function, types, args, kwargs).
PyObject* call_function_mode(PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs);
/// The line that names the mode in messages; empty without a mode.
std::string name_of_function_mode();

/// Calls __torch_function__ of the mode entered last, if any, then of the overriding arguments,
/// most derived type first, until one does not return NotImplemented. `args` is a tuple, `kwargs` a
/// dict or null. A new reference, or null with an exception set.
PyObject* call_torch_function(PyObject* function, const char* name, PyObject* args,
                              PyObject* kwargs);
/// The same for a method of Tensor, found by its name in TensorBase.
PyObject* call_method_override(const char* method, PyObject* self, PyObject* const* args,
                               Py_ssize_t nargs, PyObject* kwnames = nullptr);
/// The same for a property of Tensor: reads it, or sets it to `value` if that is not null.
PyObject* call_property_override(const char* property, PyObject* self, PyObject* value);

void init_torch_function(PyObject* module);
void init_torch_function_mode(PyObject* module);

}  // namespace torch::python
