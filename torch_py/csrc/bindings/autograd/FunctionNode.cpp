// The backward step of a custom Function: calls its Python `backward` with the GIL held.
#include "torch_py/csrc/bindings/autograd/FunctionNode.h"

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"

namespace torch::python {

using torch::autograd::variable_list;

FunctionNode::FunctionNode(PyObject* context)
    : context_(Py_NewRef(context)), name_(Py_TYPE(context)->tp_name) {
  pyobj.store(context);
}

FunctionNode::~FunctionNode() {
  if (context_ == nullptr || python_has_ended()) return;
  const GilAcquire gil;
  Py_CLEAR(context_);
}

void FunctionNode::release_resources() {
  Node::release_resources();
  saved.clear();
  if (python_has_ended()) return;
  const GilAcquire gil;
  Py_CLEAR(context_);
}

void FunctionNode::release_variables() {
  // Saved tensors may be the last owners of Python objects.
  const GilAcquire gil;
  for (torch::autograd::SavedVariable& variable : saved) variable.reset();
}

/// The arguments of `backward`: tensors, with None or zeros for missing gradients.
PyObject* FunctionNode::pack_gradients(const variable_list& grads) const {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(grads.size()))));
  for (size_t i = 0; i < grads.size(); ++i) {
    const bool has_zeros = i < outputs.size() && outputs[i].dtype != at::ScalarType::Undefined;
    const at::Tensor grad = materialize_grads && has_zeros
                                ? torch::autograd::materialize_grad(grads[i], outputs[i])
                                : grads[i];
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(grad));
  }
  return tuple.release();
}

/// Checks what `backward` returned: one gradient per tensor argument, None for the others.
variable_list FunctionNode::unpack_gradients(PyObject* result) const {
  const size_t expected = is_tensor_input.size();
  const bool single = !PyTuple_Check(result);
  size_t count = single ? 1 : static_cast<size_t>(PyTuple_GET_SIZE(result));
  const auto item = [&](size_t i) {
    return single ? result : PyTuple_GET_ITEM(result, static_cast<Py_ssize_t>(i));
  };

  // Surplus None at the end is allowed.
  while (count > expected && item(count - 1) == Py_None) --count;
  if (count != expected) {
    throw_python(PyExc_RuntimeError,
                 "function %s returned an incorrect number of gradients (expected %zu, got %zu)",
                 name(), expected, count);
  }

  variable_list grads;
  for (size_t i = 0; i < expected; ++i) {
    PyObject* grad = item(i);
    if (!is_tensor_input[i]) {
      if (grad == Py_None) continue;
      throw_python(PyExc_RuntimeError,
                   "function %s returned a gradient different from None at position %zu, but the "
                   "corresponding forward input was not a Variable",
                   name(), i + 1);
    }

    if (grad != Py_None && !is_tensor(grad))
      throw_python(PyExc_RuntimeError, "expected Variable or None (got %s)", type_name(grad));
    grads.push_back(grad == Py_None ? at::Tensor() : unpack(grad));
  }
  return grads;
}

variable_list FunctionNode::apply(variable_list&& grads) {
  const GilAcquire gil;
  const ObjectPtr method = ObjectPtr::steal(checked(PyObject_GetAttrString(context_, "apply")));
  const ObjectPtr arguments = ObjectPtr::steal(pack_gradients(grads));

  grads.clear();  // the tuple holds them from here on

  const ObjectPtr result =
      ObjectPtr::steal(checked(PyObject_CallObject(method.get(), arguments.get())));
  return unpack_gradients(result.get());
}

}  // namespace torch::python
