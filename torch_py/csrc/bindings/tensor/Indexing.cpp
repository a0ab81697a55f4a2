// Indexing and iteration: tensor[index], tensor[index] = value, len(tensor), iter(tensor).
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/fill.h"
#include "aten/ops/index.h"
#include "aten/ops/index_put.h"
#include "aten/ops/unbind.h"
#include "aten/ops/view.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/tensor/IndexParser.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

namespace {

Py_ssize_t length(PyObject* self) {
  if (is_intercepted(self)) {
    const ObjectPtr number = ObjectPtr::steal(call_method_override("__len__", self, nullptr, 0));
    return number ? PyNumber_AsSsize_t(number.get(), PyExc_OverflowError) : -1;
  }

  const at::Tensor& tensor = unpack(self);
  if (tensor.dim() > 0) return tensor.sizes()[0];
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

bool any_overrides(PyObject* index) {
  if (!PyTuple_Check(index)) return overrides(index);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
    if (overrides(PyTuple_GET_ITEM(index, i))) return true;
  }
  return false;
}

PyObject* get_item(PyObject* self, PyObject* index) {
  if (is_intercepted(self)) return call_method_override("__getitem__", self, &index, 1);
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  // Fast paths for the two forms that loops use a million times.
  if (PyLong_CheckExact(index)) return wrap(select_index(tensor, 0, to_int64(index), 0));
  if (PySlice_Check(index) && tensor.dim() > 0) {
    at::Tensor part = slice_index(tensor, 0, index);
    if (!part.is_same(tensor)) return wrap(std::move(part));
  }

  if (any_overrides(index)) return call_method_override("__getitem__", self, &index, 1);

  IndexedView indexed = apply_index(tensor, index);
  if (!indexed.is_advanced) return wrap(std::move(indexed.view));
  return wrap(unlocked([&] { return at::index(indexed.view, indexed.indices); }, indexed.view));
  TORCH_PY_CATCH(nullptr)
}

// --- Assignment ---

/// Drops leading dimensions of size 1 that the target does not have.
at::Tensor without_leading_ones(const at::Tensor& value, int64_t target_dim) {
  int64_t surplus = 0;
  while (value.dim() - surplus > target_dim && value.sizes()[static_cast<size_t>(surplus)] == 1)
    ++surplus;

  return surplus == 0 ? value : at::view(value, value.sizes().slice(static_cast<size_t>(surplus)));
}

void assign_tensor(const at::Tensor& target, const at::Tensor& value) {
  if (target.is_same(value)) return;
  if (value.sizes() == target.sizes()) {
    unlocked([&] { return at::copy_(target, value); }, target);
    return;
  }

  const at::Tensor expanded = at::expand(without_leading_ones(value, target.dim()), target.sizes());
  unlocked([&] { return at::copy_(target, expanded); }, target);
}

bool is_number(PyObject* value) {
  return PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) ||
         (!is_tensor(value) && is_scalar(value));
}

[[noreturn]] void throw_unassignable(const at::Tensor& tensor, PyObject* value) {
  throw_python(PyExc_TypeError, "can't assign a %s to a torch.%sTensor", type_name(value),
               at::scalar_type_name(tensor.scalar_type()));
}

void assign_view(const at::Tensor& view, PyObject* value) {
  if (is_tensor(value)) return assign_tensor(view, unpack(value));
  const at::Scalar number = to_scalar(value);
  unlocked([&] { return at::fill_(view, number); }, view);
}

/// The value as a tensor; index_put_ needs the dtype of the indexed tensor.
at::Tensor value_tensor(const at::Tensor& tensor, PyObject* value) {
  if (is_tensor(value)) return unpack(value);
  const at::Tensor scalar = at::empty_tensor({}, tensor.scalar_type(), tensor.device());
  at::fill_(scalar, to_scalar(value));
  return scalar;
}

void assign_advanced(const IndexedView& indexed, PyObject* value) {
  const at::Tensor values = value_tensor(indexed.view, value);
  // Without leading ones: index_put_ broadcasts to the indexed part.
  const at::Tensor source = without_leading_ones(values, 0);
  unlocked([&] { return at::index_put_(indexed.view, indexed.indices, source, false); },
           indexed.view, values);
}

int set_item_override(PyObject* self, PyObject* index, PyObject* value) {
  PyObject* args[] = {index, value};
  PyObject* result = call_method_override("__setitem__", self, args, 2);
  Py_XDECREF(result);
  return result == nullptr ? -1 : 0;
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
    return -1;
  }
  if (is_intercepted(self) || overrides(value) || any_overrides(index)) {
    return set_item_override(self, index, value);
  }

  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  if (!is_tensor(value) && !is_number(value)) throw_unassignable(tensor, value);

  // Indices that give a view of the tensor directly.
  if (PyLong_CheckExact(index)) {
    assign_view(select_index(tensor, 0, to_int64(index), 0), value);
    return 0;
  }

  if (index == Py_Ellipsis) {
    assign_view(tensor, value);
    return 0;
  }

  if (index == Py_False) return 0;
  if (index == Py_True) {
    assign_view(tensor.unsqueeze(0), value);
    return 0;
  }

  const IndexedView indexed = apply_index(tensor, index);
  indexed.is_advanced ? assign_advanced(indexed, value) : assign_view(indexed.view, value);
  return 0;
  TORCH_PY_CATCH(-1)
}

}  // namespace

PyMappingMethods* tensor_as_mapping() {
  static PyMappingMethods methods = {length, get_item, set_item};
  return &methods;
}

PyObject* tensor_iterate(PyObject* self) {
  if (is_intercepted(self)) return call_method_override("__iter__", self, nullptr, 0);
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK_TYPE(tensor.dim() > 0, "iteration over a 0-d tensor");
  const ObjectPtr parts = ObjectPtr::steal(wrap(at::unbind(tensor, 0)));
  return PyObject_GetIter(parts.get());
  TORCH_PY_CATCH(nullptr)
}

}  // namespace torch::python
