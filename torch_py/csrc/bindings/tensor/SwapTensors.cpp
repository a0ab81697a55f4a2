// _swap_tensors: exchanges the tensors, attributes and hooks of two Python objects.
#include <utility>

#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/state/GlobalState.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python {

namespace {

/// Only the Python object may refer to the tensor. Calls do not count the tensors that they are
/// given.
void check_single(PyObject* object) {
  const at::Tensor& tensor = unpack(object);
  const auto count = tensor.unsafe_impl()->use_count() + (is_in_call(tensor) ? 1 : 0);
  TORCH_CHECK(count == 1, "Expected single reference to a's Tensor object but got ", count,
              ": views of it or the graph of a computation refer to the tensor as well");
}

}  // namespace

PyObject* swap_tensors(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* first = nullptr;
  PyObject* second = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!:_swap_tensors", &TensorBaseType, &first, &TensorBaseType,
                        &second))
    return nullptr;

  if (first == second) Py_RETURN_NONE;

  before_new_memory(unpack(first));
  before_new_memory(unpack(second));
  check_single(first);
  check_single(second);

  auto* a = reinterpret_cast<PyTensor*>(first);
  auto* b = reinterpret_cast<PyTensor*>(second);
  std::swap(a->tensor, b->tensor);
  std::swap(a->dict, b->dict);
  std::swap(a->backward_hooks, b->backward_hooks);

  a->tensor.unsafe_impl()->pyobj = first;
  b->tensor.unsafe_impl()->pyobj = second;

  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

}  // namespace torch::python
