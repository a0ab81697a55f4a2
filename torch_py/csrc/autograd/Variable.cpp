// Records history, checks in-place changes, and reduces gradients to the inputs' shapes.
#include "torch_py/csrc/autograd/Variable.h"

#include "aten/ops/sum_to_size.h"
#include "aten/ops/zeros.h"
#include "torch_py/csrc/autograd/StandIns.h"
#include "torch_py/csrc/autograd/View.h"

namespace torch::autograd {

void detail::throw_out_requires_grad(const char* op) {
  TORCH_THROW(Error, op,
              "(): functions with out=... arguments don't support automatic differentiation, but "
              "one of the arguments requires grad.");
}

void set_history(const at::Tensor& output, const NodePtr& node) {
  if (!output.defined() || !is_differentiable(output.scalar_type())) {
    node->add_undefined_input();
    // A view by another dtype must not look differentiable through its base.
    if (output.defined() && output.is_view()) output.unsafe_impl()->forget_base();
    return;
  }
  const uint32_t number = node->add_input_metadata(output);
  set_gradient_edge(output, {node, number});
}

void set_history(at::TensorList outputs, const NodePtr& node) {
  for (const at::Tensor& output : outputs) set_history(output, node);
}

void rebase_history(const at::Tensor& self, const NodePtr& node, size_t edge) {
  if (!is_differentiable(self.scalar_type())) {
    node->add_undefined_input();
  } else if (self.is_view()) {
    rebase_history_of_view(self, node, edge);
  } else {
    const uint32_t number = node->add_input_metadata(self);
    set_gradient_edge(self, {node, number});
  }
}

void check_inplace(const at::Tensor& self, bool recorded, const char*) {
  if (!recorded || !c10::GradMode::is_enabled() || c10::local_state().inference_mode) return;

  if (self.is_view()) {
    check_view_origin(self, /*indirect=*/false);
    const at::Tensor base(self.impl()->base());
    // The base itself may not require grad: the leaf may be a view (arange(4).view(2,
    // 2).requires_grad_()).
    TORCH_CHECK(
        !requires_grad(self) || !is_leaf(base),
        "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }

  TORCH_CHECK(!requires_grad(self) || !is_leaf(self),
              "a leaf Variable that requires grad is being used in an in-place operation.");
}

at::Tensor as_view(const at::Tensor& base, at::Tensor view, c10::ViewOrigin origin) {
  if (!view.defined() || view.is_same(base)) return view;
  if (!(view.storage() == base.storage())) return view;  // it turned out to be a copy
  const bool is_inherited = origin == c10::ViewOrigin::Ordinary && base.is_view();
  view.unsafe_impl()->set_view_origin(is_inherited ? base.unsafe_impl()->view_origin() : origin);
  return view;
}

// --- Shapes and types of gradients ---

at::Tensor reduce_grad(const at::Tensor& grad, const InputInfo& input) {
  if (!grad.defined()) return grad;
  const bool has_shape = grad.sizes() == c10::IntArrayRef(input.sizes);
  const at::Tensor reduced = has_shape ? grad : at::sum_to_size(grad, input.sizes);
  return reduced.scalar_type() == input.dtype ? reduced : reduced.to(input.dtype);
}

at::Tensor real_if_input_is(const at::Tensor& grad, const Edge& edge) {
  if (!grad.defined() || !edge.is_valid() || !grad.is_complex()) return grad;

  const c10::ScalarType wanted = edge.function->input_metadata(edge.input_nr).dtype;
  return wanted == c10::ScalarType::Undefined || c10::is_complex(wanted)
             ? grad
             : grad.to(c10::to_real(grad.scalar_type()));
}

at::Tensor materialize_grad(const at::Tensor& grad, const InputInfo& output) {
  if (grad.defined() || output.dtype == c10::ScalarType::Undefined) return grad;
  if (C10_UNLIKELY(calls_are_seen()))
    return at::zeros(output.sizes, output.dtype, std::nullopt, output.device, std::nullopt);
  return at::empty_tensor(output.sizes, output.dtype, output.device).zero_();
}

}  // namespace torch::autograd
