// Reads and changes what autograd stores per tensor.
#include "torch_py/csrc/autograd/AutogradMeta.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "aten/ops/detach.h"
#include "c10/core/InferenceMode.h"
#include "torch_py/csrc/autograd/AccumulateGrad.h"
#include "torch_py/csrc/autograd/StandIns.h"
#include "torch_py/csrc/autograd/View.h"

namespace torch::autograd {

namespace {

// Threads that build graphs at the same time share leaves. Each leaf has one of a few locks, chosen
// by its address.
std::mutex& accumulator_mutex(const at::Tensor& tensor) {
  static std::array<std::mutex, 16> mutexes;
  return mutexes[(reinterpret_cast<uintptr_t>(tensor.unsafe_impl()) >> 6) % mutexes.size()];
}

// The gradient to retain is that of the tensor's present value; tensor hooks, in contrast, stay
// with the value on which they were set.
void move_retained_grad(const at::Tensor& tensor, const AutogradMeta& meta, const Edge& to) {
  NodeHooks& from = meta.grad_fn->mutable_hooks();
  std::erase_if(from.retained_grads, [&](const auto& entry) {
    return entry.tensor.unsafe_get() == tensor.unsafe_impl();
  });
  to.function->mutable_hooks().retained_grads.push_back({to.input_nr, tensor.impl()});
}

LeafHooks& leaf_hooks(AutogradMeta& meta) {
  if (!meta.leaf_hooks) meta.leaf_hooks = std::make_unique<LeafHooks>();
  return *meta.leaf_hooks;
}

}  // namespace

AutogradMeta::~AutogradMeta() = default;

AutogradMeta& materialize_autograd_meta(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "cannot attach autograd information to an undefined tensor");
  if (AutogradMeta* meta = autograd_meta(tensor)) return *meta;
  auto fresh = std::make_unique<AutogradMeta>();
  AutogradMeta& meta = *fresh;
  tensor.unsafe_impl()->set_autograd_meta(std::move(fresh));
  return meta;
}

// --- History ---

NodePtr grad_fn(const at::Tensor& tensor) {
  if (C10_UNLIKELY(tensor.is_view())) return grad_fn_of_view(tensor);
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta == nullptr ? NodePtr() : meta->grad_fn;
}

uint32_t output_nr(const at::Tensor& tensor) {
  if (tensor.is_view()) grad_fn_of_view(tensor);
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta == nullptr ? 0 : meta->output_nr;
}

Edge gradient_edge(const at::Tensor& tensor) {
  if (!requires_grad(tensor)) return {};
  if (NodePtr node = grad_fn(tensor)) return {std::move(node), autograd_meta(tensor)->output_nr};
  return {grad_accumulator(tensor), 0};
}

NodePtr grad_accumulator(const at::Tensor& tensor) {
  AutogradMeta* meta = autograd_meta(tensor);
  if (meta == nullptr || !meta->requires_grad) return {};

  const std::lock_guard lock(accumulator_mutex(tensor));
  if (NodePtr alive = meta->grad_accumulator.lock()) return alive;
  NodePtr fresh = c10::make_intrusive<AccumulateGrad>(tensor);
  meta->grad_accumulator = fresh;
  return fresh;
}

void set_gradient_edge(const at::Tensor& tensor, Edge edge) {
  AutogradMeta& meta = materialize_autograd_meta(tensor);
  if (meta.retains_grad && meta.grad_fn && !(meta.grad_fn == edge.function))
    move_retained_grad(tensor, meta, edge);

  meta.grad_fn = std::move(edge.function);
  meta.output_nr = edge.input_nr;
  meta.history_version = tensor.is_view() ? tensor.version() : 0;
  tensor.unsafe_impl()->set_autograd_key(true);
}

// --- Flags ---

bool is_leaf(const at::Tensor& tensor) { return !grad_fn(tensor); }

void set_requires_grad(const at::Tensor& tensor, bool requires_grad) {
  TORCH_CHECK(
      !requires_grad || !c10::is_inference(*tensor.unsafe_impl()) ||
          c10::InferenceMode::is_enabled(),
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  TORCH_CHECK(!requires_grad || is_differentiable(tensor.scalar_type()),
              "only Tensors of floating point and complex dtype can require gradients, got ",
              c10::dtype_name(tensor.scalar_type()));

  if (!is_leaf(tensor)) {
    TORCH_CHECK(requires_grad,
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach().");
    return;  // a non-leaf requires grad already
  }

  if (!requires_grad && autograd_meta(tensor) == nullptr) return;
  materialize_autograd_meta(tensor).requires_grad = requires_grad;
  tensor.unsafe_impl()->set_autograd_key(requires_grad);
}

// --- Gradients ---

at::Tensor grad(const at::Tensor& tensor) {
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta == nullptr ? at::Tensor() : meta->grad;
}

void set_grad(const at::Tensor& tensor, const at::Tensor& grad) {
  if (!grad.defined()) {
    if (AutogradMeta* meta = autograd_meta(tensor)) meta->grad.reset();
    return;
  }

  TORCH_CHECK(!grad.is_same(tensor), "can't assign Variable as its own grad");
  TORCH_CHECK(grad.scalar_type() == tensor.scalar_type(),
              "attempting to assign a gradient of dtype '", c10::dtype_name(grad.scalar_type()),
              "' to a tensor of dtype '", c10::dtype_name(tensor.scalar_type()),
              "'. The two must be the same");
  TORCH_CHECK(grad.device().type == tensor.device().type,
              "attempting to assign a gradient on device '", grad.device(),
              "' to a tensor on device '", tensor.device(),
              "'. Please ensure that the gradient and the tensor are on the same device");
  TORCH_CHECK(grad.sizes() == tensor.sizes(), "attempting to assign a gradient of size '",
              grad.sizes(), "' to a tensor of size '", tensor.sizes(),
              "'. Please ensure that the gradient and the tensor are the same size");

  materialize_autograd_meta(tensor).grad = grad;
}

void retain_grad(const at::Tensor& tensor) {
  TORCH_CHECK(requires_grad(tensor), "can't retain_grad on Tensor that has requires_grad=False");
  const Edge edge = gradient_edge(tensor);
  if (is_leaf(tensor)) return;  // leaves get their gradient anyway

  AutogradMeta& meta = materialize_autograd_meta(tensor);
  if (meta.retains_grad) return;

  meta.retains_grad = true;
  edge.function->mutable_hooks().retained_grads.push_back({edge.input_nr, tensor.impl()});
}

bool retains_grad(const at::Tensor& tensor) {
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta != nullptr && meta->retains_grad && meta->grad_fn;
}

// --- Hooks ---

void add_tensor_hook(const at::Tensor& tensor, std::shared_ptr<TensorHook> hook) {
  TORCH_CHECK(requires_grad(tensor),
              "cannot register a hook on a tensor that doesn't require gradient");
  const NodePtr node = grad_fn(tensor);

  AutogradMeta& meta = materialize_autograd_meta(tensor);
  if (node) return node->add_tensor_hook(meta.output_nr, std::move(hook));

  // An accumulator lives only as long as graphs refer to it. The list in the tensor outlives it and
  // equips the next one.
  leaf_hooks(meta).tensor_hooks.push_back(hook);
  if (const NodePtr accumulator = meta.grad_accumulator.lock())
    accumulator->add_tensor_hook(0, std::move(hook));
}

void add_post_accumulate_grad_hook(const at::Tensor& tensor,
                                   std::shared_ptr<PostAccumulateGradHook> hook) {
  TORCH_CHECK(requires_grad(tensor),
              "cannot register a hook on a tensor that doesn't require gradient");
  TORCH_CHECK(is_leaf(tensor),
              "post accumulate grad hooks cannot be registered on non-leaf tensors");
  leaf_hooks(materialize_autograd_meta(tensor)).post_accumulate.push_back(std::move(hook));
}

// --- The same memory without history ---

at::Tensor detach(const at::Tensor& tensor) {
  at::Tensor result = data(tensor);
  result.unsafe_impl()->share_version_with(*tensor.unsafe_impl());
  return result;
}

void detach_(const at::Tensor& tensor) {
  TORCH_CHECK(!tensor.is_view(), "Can't detach views in-place. Use detach() instead.");
  if (AutogradMeta* meta = autograd_meta(tensor)) {
    meta->requires_grad = false;
    meta->output_nr = 0;
    meta->grad_fn.reset();
  }
  tensor.unsafe_impl()->set_autograd_key(false);
}

at::Tensor data(const at::Tensor& tensor) {
  // The class of a tensor without memory makes its copies: only it knows what the tensor stands
  // for.
  if (C10_UNLIKELY(stands_for_others(tensor))) {
    const c10::AutoDispatchBelowAutograd below;
    const at::Tensor made = at::detach(tensor);
    if (!made.is_same(tensor)) {
      // Changes of the copy do not count as changes of the tensor.
      const auto of_its_own = tensor.unsafe_impl()->shallow_copy();
      made.unsafe_impl()->share_version_with(*of_its_own);
    }
    return made;
  }
  return at::Tensor(tensor.unsafe_impl()->shallow_copy());
}

void set_data(const at::Tensor& tensor, const at::Tensor& new_data) {
  TORCH_CHECK(new_data.defined() && tensor.layout() == new_data.layout() &&
                  tensor.is_meta() == new_data.is_meta(),
              "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
              "incompatible tensor type.");
  TORCH_CHECK(
      !requires_grad(tensor) || is_differentiable(new_data.scalar_type()),
      "data set to a tensor that requires gradients must be floating point or complex dtype");
  AutogradMeta* meta = autograd_meta(tensor);
  const bool other_kind =
      tensor.scalar_type() != new_data.scalar_type() || !(tensor.device() == new_data.device());

  // The accumulator checks gradients against the old type; graphs made from now on need one for the
  // new type.
  if (meta != nullptr && other_kind) meta->grad_accumulator.reset();
  tensor.unsafe_impl()->shallow_copy_from(*new_data.unsafe_impl());
}

}  // namespace torch::autograd
