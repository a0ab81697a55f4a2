// Autograd attributes and methods of Tensor: requires_grad, grad, grad_fn, data, hooks.
#include "torch_py/csrc/bindings/tensor/TensorAutograd.h"

#include "aten/core/Warning.h"
#include "aten/ops/detach.h"
#include "aten/transforms/Levels.h"
#include "c10/core/InferenceMode.h"
#include "torch_py/csrc/autograd/AutogradMeta.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/autograd/NodeType.h"
#include "torch_py/csrc/bindings/autograd/PythonHooks.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

namespace autograd = torch::autograd;

namespace {

/// tensor.requires_grad = flag, by PyTorch's rules: only leaves can change it, and only
/// floating-point and complex tensors can require it.
void change_requires_grad(const at::Tensor& tensor, bool requires_grad) {
  if (const at::transforms::Wrapped* wrapped = at::transforms::as_wrapped(tensor))
    return change_requires_grad(wrapped->value(), requires_grad);
  TORCH_CHECK(autograd::is_leaf(tensor) || requires_grad,
              "you can only change requires_grad flags of leaf variables. If you want to use a "
              "computed variable in a subgraph that doesn't require differentiation use "
              "var_no_grad = var.detach().");
  TORCH_CHECK(!requires_grad || autograd::is_differentiable(tensor.scalar_type()),
              "only Tensors of floating point and complex dtype can require gradients");

  if (!autograd::is_leaf(tensor)) return;
  autograd::set_requires_grad(tensor, requires_grad);
}

/// Of a tensor inside of a function transform: whether what is inside does.
bool requires_grad(const at::Tensor& tensor) {
  const at::transforms::Wrapped* wrapped = at::transforms::as_wrapped(tensor);
  return wrapped == nullptr ? autograd::requires_grad(tensor) : requires_grad(wrapped->value());
}

/// tensor.grad = value: the gradient must look like the tensor.
void check_gradient(const at::Tensor& tensor, PyObject* value) {
  if (!is_tensor(value)) {
    throw_python(PyExc_TypeError,
                 "assigned grad expected to be a Tensor or None but got grad of type %s",
                 type_name(value));
  }

  const at::Tensor& gradient = unpack(value);

  TORCH_CHECK(!gradient.is_same(tensor), "can't assign Variable as its own grad");
  TORCH_CHECK(gradient.scalar_type() == tensor.scalar_type(),
              "attempting to assign a gradient with dtype '",
              at::dtype_name(gradient.scalar_type()), "' to a tensor with dtype '",
              at::dtype_name(tensor.scalar_type()), "'");
  TORCH_CHECK(gradient.device().type == tensor.device().type,
              "attempting to assign a gradient on device '", gradient.device(),
              "' to a tensor on device '", tensor.device(), "'");
  TORCH_CHECK(gradient.sizes() == tensor.sizes(), "attempting to assign a gradient of size '",
              gradient.sizes(), "' to a tensor of size '", tensor.sizes(),
              "'. Please ensure that the gradient and the tensor are the same size");
}

constexpr Parameter requires_grad_parameters[] = {{"self", Kind::Tensor},
                                                  {"requires_grad", Kind::Bool, kOptional}};
constexpr Signature requires_grad_signatures[] = {
    {"requires_grad_(bool requires_grad = True)", requires_grad_parameters, 2, 0}};
constinit Function requires_grad_function = {"requires_grad_", "Tensor", requires_grad_signatures,
                                             1};

PyObject* requires_grad_(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(requires_grad_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(requires_grad_function);
  change_requires_grad(unpack(self), call.boolean(1, true));
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* detach(PyObject* self, PyObject*) {
  if (is_intercepted(self)) return call_method_override("detach", self, nullptr, 0);
  TORCH_PY_TRY
  return wrap(at::detach(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* detach_(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK(!(tensor.is_view() && tensor.requires_grad()),
              "Can't detach views in-place. Use detach() instead.");
  autograd::detach_(tensor);
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* retain_grad(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  TORCH_CHECK(unpack(self).requires_grad(),
              "can't retain_grad on Tensor that has requires_grad=False");
  autograd::retain_grad(unpack(self));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* register_hook(PyObject* self, PyObject* hook) {
  TORCH_PY_TRY
  return add_tensor_hook(unpack(self), hook);
  TORCH_PY_CATCH(nullptr)
}

PyObject* register_post_accumulate_grad_hook(PyObject* self, PyObject* hook) {
  TORCH_PY_TRY
  return add_post_accumulate_hook(unpack(self), hook);
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_inference(PyObject* self, PyObject*) {
  return PyBool_FromLong(c10::is_inference(*unpack(self).unsafe_impl()));
}

PyObject* is_view(PyObject* self, PyObject*) { return PyBool_FromLong(unpack(self).is_view()); }

PyObject* was_viewed_without_grad(PyObject* self, PyObject*) {
  const c10::ViewOrigin origin = unpack(self).impl()->view_origin();
  return PyBool_FromLong(origin == c10::ViewOrigin::NoGradMode);
}

/// Gives a view the origin of another one: whether it can be changed in place depends on that.
PyObject* take_view_origin(PyObject* self, PyObject* other) {
  TORCH_PY_TRY
  TORCH_CHECK(is_tensor(other), "_take_view_origin: expected a Tensor, got ", type_name(other));
  unpack(self).impl()->set_view_origin(unpack(other).impl()->view_origin());
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyMethodDef tensor_autograd_methods[] = {
    {"requires_grad_", as_method(requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     texts::Tensor_requires_grad_},
    {"detach", detach, METH_NOARGS, texts::Tensor_detach},
    {"detach_", detach_, METH_NOARGS, texts::Tensor_detach_},
    {"retain_grad", retain_grad, METH_NOARGS, texts::Tensor_retain_grad},
    {"register_hook", register_hook, METH_O, texts::Tensor_register_hook},
    {"register_post_accumulate_grad_hook", register_post_accumulate_grad_hook, METH_O,
     texts::Tensor_register_post_accumulate_grad_hook},
    {"is_inference", is_inference, METH_NOARGS, texts::Tensor_is_inference},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {"_take_view_origin", take_view_origin, METH_O, nullptr},
    {"_was_viewed_without_grad", was_viewed_without_grad, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyObject* get_requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(requires_grad(unpack(self)));
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  TORCH_PY_TRY
  TORCH_CHECK(value != nullptr && PyBool_Check(value), "requires_grad must be a bool");
  const at::Tensor& tensor = unpack(self);

  TORCH_CHECK(autograd::is_leaf(tensor) || (value == Py_True) == autograd::requires_grad(tensor),
              "you can only change requires_grad flags of leaf variables.",
              value == Py_False ? " If you want to use a computed variable in a subgraph that "
                                  "doesn't require differentiation use var_no_grad = var.detach()."
                                : "");

  change_requires_grad(tensor, value == Py_True);
  return 0;
  TORCH_PY_CATCH(-1)
}

PyObject* get_grad(PyObject* self, void*) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  const at::Tensor grad = autograd::grad(tensor);

  if (!grad.defined() && !autograd::is_leaf(tensor) && !autograd::retains_grad(tensor)) {
    at::warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
             "Backward does not fill it: call .retain_grad() on this tensor first, or look at the "
             "leaf it was computed from.");
  }

  return wrap(grad);
  TORCH_PY_CATCH(nullptr)
}

int set_grad(PyObject* self, PyObject* value, void*) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  if (value == nullptr || value == Py_None) {
    if (autograd::autograd_meta(tensor) != nullptr) autograd::set_grad(tensor, at::Tensor());
    return 0;
  }

  check_gradient(tensor, value);
  autograd::set_grad(tensor, unpack(value));
  return 0;
  TORCH_PY_CATCH(-1)
}

PyObject* get_grad_fn(PyObject* self, void*) {
  TORCH_PY_TRY
  if (!unpack(self).requires_grad()) Py_RETURN_NONE;
  return wrap_node(autograd::grad_fn(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_is_leaf(PyObject* self, void*) {
  TORCH_PY_TRY
  return PyBool_FromLong(autograd::is_leaf(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_data(PyObject* self, void*) {
  TORCH_PY_TRY
  return wrap(autograd::data(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

int set_data(PyObject* self, PyObject* value, void*) {
  TORCH_PY_TRY
  TORCH_CHECK(value != nullptr, "Deleting tensor data is not allowed. Delete tensor instead!");
  if (!is_tensor(value))
    throw_python(PyExc_TypeError, "Variable data has to be a tensor, but got %s", type_name(value));
  before_new_memory(unpack(self));
  autograd::set_data(unpack(self), unpack(value));
  return 0;
  TORCH_PY_CATCH(-1)
}

PyObject* get_base(PyObject* self, void*) {
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  if (!tensor.is_view()) Py_RETURN_NONE;
  return wrap(at::Tensor(tensor.impl()->base()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_output_nr(PyObject* self, void*) {
  TORCH_PY_TRY
  return PyLong_FromUnsignedLong(autograd::output_nr(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_retains_grad(PyObject* self, void*) {
  return PyBool_FromLong(autograd::retains_grad(unpack(self)));
}

}  // namespace torch::python
