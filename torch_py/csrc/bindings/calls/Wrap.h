// Wraps the C++ results of operators in new Python references.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <initializer_list>
#include <tuple>
#include <vector>

#include "aten/core/PinnedMemory.h"
#include "aten/core/Tensor.h"
#include "c10/util/Export.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

// wrap(at::Tensor) is in TensorType.h. All throw PythonError rather than return null.

namespace torch::python {

inline PyObject* wrap_none() { Py_RETURN_NONE; }
inline PyObject* wrap(bool value) { return PyBool_FromLong(value); }
inline PyObject* wrap(int64_t value) { return checked(PyLong_FromLongLong(value)); }
inline PyObject* wrap(double value) { return checked(PyFloat_FromDouble(value)); }
inline PyObject* wrap(const at::Scalar& value) { return from_scalar(value); }
TORCH_PY_API PyObject* wrap(at::ScalarType dtype);
TORCH_PY_API PyObject* wrap(at::Device device);
TORCH_PY_API PyObject* wrap(at::Layout layout);
TORCH_PY_API PyObject* wrap(at::MemoryFormat format);
/// A tuple of tensors.
TORCH_PY_API PyObject* wrap(std::vector<at::Tensor> tensors);
/// torch.Size
TORCH_PY_API PyObject* wrap_size(at::IntArrayRef sizes);

namespace detail {

/// Fills `container` (a new tuple or struct sequence) with the wrapped elements; frees it if one of
/// them fails.
template <class... T, size_t... I>
PyObject* fill(PyObject* container, void (*set)(PyObject*, Py_ssize_t, PyObject*),
               std::tuple<T...>&& values, std::index_sequence<I...>) {
  try {
    (set(container, static_cast<Py_ssize_t>(I), wrap(std::get<I>(std::move(values)))), ...);
  } catch (...) {
    Py_DECREF(container);
    throw;
  }
  return container;
}

inline void set_tuple_item(PyObject* tuple, Py_ssize_t i, PyObject* value) {
  PyTuple_SET_ITEM(tuple, i, value);
}
inline void set_struct_item(PyObject* sequence, Py_ssize_t i, PyObject* value) {
  PyStructSequence_SetItem(sequence, i, value);
}

}  // namespace detail

template <class... T>
PyObject* wrap(std::tuple<T...> values) {
  PyObject* tuple = checked(PyTuple_New(sizeof...(T)));
  return detail::fill(tuple, detail::set_tuple_item, std::move(values),
                      std::index_sequence_for<T...>());
}

/// A named tuple of an operator's results (torch.return_types.max). Static data; the Python type is
/// made on first use.
struct TORCH_PY_API ReturnType {
  const char* name;
  std::initializer_list<const char*> fields;
  mutable PyTypeObject* type = nullptr;

  PyTypeObject* get() const { return type != nullptr ? type : make(); }

 private:
  PyTypeObject* make() const;
};

template <class... T>
PyObject* wrap(const ReturnType& type, std::tuple<T...>&& values) {
  PyObject* sequence = checked(PyStructSequence_New(type.get()));
  return detail::fill(sequence, detail::set_struct_item, std::move(values),
                      std::index_sequence_for<T...>());
}

/// requires_grad= of factories; RuntimeError for dtypes without gradients.
TORCH_PY_API at::Tensor with_requires_grad(at::Tensor fresh, bool requires_grad);

}  // namespace torch::python
