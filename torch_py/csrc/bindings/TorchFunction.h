#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/bindings/TensorType.h"

// __torch_function__: types that want to see a call before it runs. Plain tensors pay one pointer comparison, in Arguments.

namespace torch::python {

/// Whether `object` (not exactly a Tensor) takes calls over: its type defines __torch_function__ and is not opted out.
TORCH_PY_API bool has_torch_function(PyObject* object);
inline bool overrides(PyObject* object) { return !is_tensor_exact(object) && has_torch_function(object); }

/// Calls __torch_function__ of the overriding arguments, most derived type first, until one does not return NotImplemented.
/// `args` is a tuple, `kwargs` a dict or null. A new reference, or null with an exception set.
PyObject* call_torch_function(PyObject* function, const char* name, PyObject* args, PyObject* kwargs);
/// The same for a method or property of Tensor: `function` is looked up in TensorBase.
PyObject* call_method_override(const char* method, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames = nullptr);
/// The same for a property: reading it, or setting it to `value`.
PyObject* call_property_override(const char* property, PyObject* self, PyObject* value);

void init_torch_function(PyObject* module);

}  // namespace torch::python
