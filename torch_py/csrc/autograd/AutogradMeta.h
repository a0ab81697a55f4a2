// What autograd stores per tensor (AutogradMeta), and the functions that read and change it.
#pragma once
#include "torch_py/csrc/autograd/Node.h"

namespace torch::autograd {

/// Hooks of a leaf, which belong to the tensor itself rather than to the node that made it.
struct LeafHooks {
  std::vector<std::shared_ptr<TensorHook>> tensor_hooks;
  std::vector<std::shared_ptr<PostAccumulateGradHook>> post_accumulate;
};

/// Autograd's part of a tensor, made when the tensor first needs it. TensorImpl's autograd key
/// tells, without a look in here, whether `requires_grad` or `grad_fn` is set.
struct TORCH_PY_API AutogradMeta final : c10::AutogradMetaInterface {
  /// The history_version of a view whose grad_fn must be derived from its base's, if that has one.
  static constexpr uint32_t kNoHistory = ~uint32_t{0};

  ~AutogradMeta() override;

  at::Tensor grad;  // undefined until the first gradient arrives
  NodePtr grad_fn;  // null for leaves; of a view: as of history_version, read it by grad_fn(tensor)
  c10::weak_intrusive_ptr<Node> grad_accumulator;  // of a leaf, while a graph refers to it
  std::unique_ptr<LeafHooks> leaf_hooks;           // null without hooks
  uint32_t output_nr = 0;                          // which output of grad_fn this tensor is
  uint32_t history_version = kNoHistory;           // of a view: its version when grad_fn was set
  bool retains_grad = false;                       // retain_grad() was called on a non-leaf
};

/// Null for a tensor that never needed one.
inline AutogradMeta* autograd_meta(const at::Tensor& tensor) {
  return static_cast<AutogradMeta*>(tensor.unsafe_impl()->autograd_meta());
}

TORCH_PY_API AutogradMeta& materialize_autograd_meta(const at::Tensor& tensor);

// --- The history of a tensor ---

/// The node that made this tensor; null for a leaf. For a view whose base was changed in place it
/// is derived anew.
TORCH_PY_API NodePtr grad_fn(const at::Tensor& tensor);
/// Which output of grad_fn this tensor is.
TORCH_PY_API uint32_t output_nr(const at::Tensor& tensor);
/// Where the gradient of this tensor goes: to grad_fn, to the accumulator of a leaf that requires
/// grad, or nowhere.
TORCH_PY_API Edge gradient_edge(const at::Tensor& tensor);
/// The node that adds into the .grad of a leaf; null if the tensor does not require grad. At most
/// one at a time per tensor.
TORCH_PY_API NodePtr grad_accumulator(const at::Tensor& tensor);
/// Makes the tensor, a leaf or not, an output of edge.function.
TORCH_PY_API void set_gradient_edge(const at::Tensor& tensor, Edge edge);

// --- Flags ---

/// True if the user or the history says so, or the history of a view's base. False for undefined
/// tensors.
inline bool requires_grad(const at::Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad() && is_differentiable(tensor.scalar_type());
}
TORCH_PY_API void set_requires_grad(const at::Tensor& tensor, bool requires_grad);
TORCH_PY_API bool is_leaf(const at::Tensor& tensor);
inline uint32_t version(const at::Tensor& tensor) { return tensor.version(); }

// --- Gradients ---

/// Undefined if the tensor has no gradient yet.
TORCH_PY_API at::Tensor grad(const at::Tensor& tensor);
/// tensor.grad = grad, where undefined clears it. Checks shape, dtype and device.
TORCH_PY_API void set_grad(const at::Tensor& tensor, const at::Tensor& grad);
TORCH_PY_API void retain_grad(const at::Tensor& tensor);
TORCH_PY_API bool retains_grad(const at::Tensor& tensor);

// --- Hooks ---

/// The hook sees the gradient of the value that the tensor has now; a later in-place change does
/// not move it.
TORCH_PY_API void add_tensor_hook(const at::Tensor& tensor, std::shared_ptr<TensorHook> hook);
TORCH_PY_API void add_post_accumulate_grad_hook(const at::Tensor& tensor,
                                                std::shared_ptr<PostAccumulateGradHook> hook);

// --- The same memory without history ---

/// Shares memory and version counter, so that saved tensors notice changes through the result.
TORCH_PY_API at::Tensor detach(const at::Tensor& tensor);
TORCH_PY_API void detach_(const at::Tensor& tensor);
/// tensor.data: like detach, with a version counter of its own.
TORCH_PY_API at::Tensor data(const at::Tensor& tensor);
/// tensor.data = new_data
TORCH_PY_API void set_data(const at::Tensor& tensor, const at::Tensor& new_data);

}  // namespace torch::autograd
