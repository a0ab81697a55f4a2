// The Python object of a tensor, and the exchange of handles between C++ and Python.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "c10/util/Export.h"

namespace torch::python {

/// The Python object of a tensor: torch_py._C.TensorBase and everything derived from it.
///
/// Note [One Python object per tensor]
/// A TensorImpl and its Python object find each other (TensorImpl::pyobj, PyTensor::tensor) for as
/// long as both live. Which of them owns the other changes. While Python refers to the object, the
/// object owns the TensorImpl. When the last Python reference goes and C++ still holds the tensor
/// (a saved variable, a list in a kernel), the object is not freed: it is brought back to life,
/// owned by the TensorImpl (owns_pyobj), and `tensor` becomes a pointer without a count. wrap()
/// turns that around again. So attributes, hooks and the subclass survive while only C++ holds the
/// tensor. Every change happens with the GIL held. Tested in tests/torch_py/test_tensor_type.py.
struct PyTensor {
  PyObject_HEAD
  at::Tensor tensor;  // always defined; without a count while the TensorImpl owns this object
  PyObject* dict;     // __dict__, made on first use
  PyObject* weak_references;
  PyObject* backward_hooks;  // the value of _backward_hooks, for Python code that keeps its own
};

TORCH_PY_API extern PyTypeObject TensorBaseType;

/// Python's class Tensor; TensorBase until _set_tensor_class. Results are instances of it.
TORCH_PY_API extern PyTypeObject* tensor_class;

/// torch.nn.Parameter, once Python has named it (_set_parameter_class). Calls treat it like a plain
/// Tensor.
TORCH_PY_API extern PyTypeObject* parameter_class;

inline bool is_tensor_exact(PyObject* object) { return Py_TYPE(object) == tensor_class; }
inline bool is_tensor(PyObject* object) {
  return is_tensor_exact(object) || PyType_IsSubtype(Py_TYPE(object), &TensorBaseType);
}

/// The tensor of an object that satisfies is_tensor().
inline const at::Tensor& unpack(PyObject* object) {
  return reinterpret_cast<PyTensor*>(object)->tensor;
}

/// A new reference to the tensor's Python object, which is made on first use; None for an undefined
/// tensor.
TORCH_PY_API PyObject* wrap(at::Tensor tensor);
/// A new object of `type` (a subclass of TensorBase) for a tensor that does not have one.
PyObject* wrap_as(PyTypeObject* type, at::Tensor tensor);

/// Makes `type` the class of results (_C._set_tensor_class); TypeError unless it is a plain
/// subclass of TensorBase.
void set_tensor_class(PyTypeObject* type);
void init_tensor_type(PyObject* module);

}  // namespace torch::python
