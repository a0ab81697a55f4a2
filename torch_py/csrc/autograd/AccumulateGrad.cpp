// Adds gradients into the .grad of leaves, without a copy where that is safe.
#include "torch_py/csrc/autograd/AccumulateGrad.h"

#include <array>
#include <limits>
#include <mutex>

#include "aten/ops/add.h"
#include "aten/ops/clone.h"
#include "torch_py/csrc/autograd/StandIns.h"

namespace torch::autograd {

bool is_sole_owner(const at::Tensor& tensor) {
  if (tensor.impl().use_count() != 1 || tensor.layout() != c10::Layout::Strided) return false;
  const uint32_t owners = tensor.storage().use_count();
  // A view keeps its base, which refers to the storage as well; if nobody else has the base, the
  // memory is the view's.
  return owners <= 1 || (owners == 2 && tensor.is_view() && tensor.impl()->base().use_count() == 1);
}

namespace {

/// Gradients of parameters have the parameters' strides, so that optimizers can process both in one
/// pass.
bool has_layout_of(const at::Tensor& grad, const at::Tensor& variable) {
  if (!variable.is_non_overlapping_and_dense()) return grad.is_contiguous();
  if (grad.sizes() != variable.sizes()) return false;

  for (size_t i = 0; i < grad.sizes().size(); ++i) {
    if (grad.sizes()[i] > 1 && grad.strides()[i] != variable.strides()[i]) return false;
  }
  return true;
}

/// A leaf that was reshaped in place after its use (`w.unsqueeze_(0)`) receives a gradient of its
/// new shape, if the gradient can be broadcast to it.
at::Tensor copy_with_layout_of(const at::Tensor& grad, const at::Tensor& variable) {
  const at::Tensor copy = variable.is_non_overlapping_and_dense()
                              ? at::empty_strided_tensor(variable.sizes(), variable.strides(),
                                                         grad.scalar_type(), grad.device())
                              : at::empty_tensor(grad.sizes(), grad.scalar_type(), grad.device());
  copy.copy_(grad);
  return copy;
}

/// The first gradient of a leaf is kept itself if nobody else can see it. With create_graph it is
/// always copied, because it is part of a graph.
at::Tensor first_gradient(at::Tensor&& grad, const at::Tensor& variable) {
  // Only other layouts, and classes of tensors without memory, know how they are copied.
  if (grad.layout() != c10::Layout::Strided || stands_for_others(grad)) return at::clone(grad);

  const bool keep =
      !c10::GradMode::is_enabled() && has_layout_of(grad, variable) && is_sole_owner(grad);
  if (!keep) return copy_with_layout_of(grad, variable);

  const bool plain = !grad.is_view() && autograd_meta(grad) == nullptr;
  return plain ? std::move(grad) : data(grad);
}

void accumulate(const at::Tensor& variable, at::Tensor&& grad) {
  AutogradMeta& meta = materialize_autograd_meta(variable);
  if (!meta.grad.defined()) {
    meta.grad = first_gradient(std::move(grad), variable);
  } else if (c10::GradMode::is_enabled()) {
    meta.grad = at::add(meta.grad, grad);
  } else {
    at::add_(meta.grad, grad);
  }
}

// Backward passes of several threads may meet in one leaf.
std::mutex& mutex_of(const at::Tensor& variable) {
  static std::array<std::mutex, 16> mutexes;
  return mutexes[(reinterpret_cast<uintptr_t>(variable.unsafe_impl()) >> 6) % mutexes.size()];
}

}  // namespace

// It has the largest sequence number: gradients are added, and their memory is freed, as soon as
// they are complete.
AccumulateGrad::AccumulateGrad(const at::Tensor& variable)
    : Node(std::numeric_limits<uint64_t>::max()), variable_(variable) {
  add_input_metadata(variable);
  const AutogradMeta* meta = autograd_meta(variable);
  if (meta == nullptr || !meta->leaf_hooks) return;
  for (const auto& hook : meta->leaf_hooks->tensor_hooks) add_tensor_hook(0, hook);
}

void AccumulateGrad::release_resources() {
  Node::release_resources();
  variable_.reset();  // the variable's weak reference to this node would keep both
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {};

  const AutogradMeta* meta = autograd_meta(variable_);
  if (meta == nullptr || !meta->requires_grad) return {};  // frozen since the graph was made

  {
    const std::lock_guard lock(mutex_of(variable_));
    accumulate(variable_, std::move(grads[0]));
  }

  if (meta->leaf_hooks) {
    // A copy of the list: a hook may add another.
    const auto hooks = meta->leaf_hooks->post_accumulate;
    for (const auto& hook : hooks) hook->call(variable_);
  }

  return {};
}

}  // namespace torch::autograd
