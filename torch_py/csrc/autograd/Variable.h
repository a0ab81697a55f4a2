// What autograd kernels call to record history.
#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

// Both generated kernels and custom Functions use these.

namespace torch::autograd {

namespace detail {

inline bool any_requires_grad(const at::Tensor& tensor) { return requires_grad(tensor); }
inline bool any_requires_grad(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (requires_grad(tensor)) return true;
  }
  return false;
}

inline void collect_edges(edge_list& edges, const at::Tensor& tensor) {
  edges.push_back(gradient_edge(tensor));
}
inline void collect_edges(edge_list& edges, at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) edges.push_back(gradient_edge(tensor));
}

[[noreturn]] TORCH_PY_API void throw_out_requires_grad(const char* op);

// std::vector<Tensor> and the like convert to TensorList. A Tensor must not: as a list of one it
// would lose its meaning.
inline const at::Tensor& tensor_or_list(const at::Tensor& tensor) { return tensor; }
inline at::TensorList tensor_or_list(at::TensorList tensors) { return tensors; }
template <class Container>
  requires(!std::is_same_v<Container, at::Tensor> && !std::is_same_v<Container, at::TensorList> &&
           std::is_convertible_v<const Container&, at::TensorList>)
at::TensorList tensor_or_list(const Container& tensors) {
  return tensors;
}

}  // namespace detail

/// Whether a call on these tensors must be recorded. Each argument is a Tensor, defined or not, or
/// a TensorList.
template <class... T>
bool compute_requires_grad(const T&... tensors) {
  return c10::GradMode::is_enabled() && !c10::local_state().inference_mode &&
         (detail::any_requires_grad(detail::tensor_or_list(tensors)) || ...);
}

/// The edges of a call: one per Tensor, size() per TensorList, in order. They are invalid for
/// tensors that need no gradient.
template <class... T>
edge_list collect_next_edges(const T&... tensors) {
  edge_list edges;
  (detail::collect_edges(edges, detail::tensor_or_list(tensors)), ...);
  return edges;
}

/// Makes `output` the next output of `node`. An output that takes no gradient (undefined, integral)
/// has a number but no history.
TORCH_PY_API void set_history(const at::Tensor& output, const NodePtr& node);
TORCH_PY_API void set_history(at::TensorList outputs, const NodePtr& node);
/// Records that `node` changed `self` in place; its `edge` leads to the old value of `self`. See
/// Note [Views and in-place changes].
TORCH_PY_API void rebase_history(const at::Tensor& self, const NodePtr& node, size_t edge = 0);
/// Call before the change: throws if it is not allowed (leaves, views of leaves, some views).
/// `requires_grad` says whether it will be recorded.
TORCH_PY_API void check_inplace(const at::Tensor& self, bool requires_grad, const char* op);
/// Completes a view made by an autograd kernel, before set_history. The kernel below has set its
/// base.
TORCH_PY_API at::Tensor as_view(const at::Tensor& base, at::Tensor view, c10::ViewOrigin origin);

/// For results of operators that do not make views: a kernel may have returned a view of memory
/// that it made itself, which nobody else knows. As a view, it would take its history from that
/// memory, which has none.
inline void forget_temporary_base(const at::Tensor& result) {
  if (C10_LIKELY(!result.defined() || !result.is_view())) return;
  if (result.impl()->base().use_count() == 1) result.unsafe_impl()->forget_base();
}
inline void forget_temporary_base(at::TensorList results) {
  for (const at::Tensor& result : results) forget_temporary_base(result);
}

template <class... T>
void forget_temporary_base(const std::tuple<T...>& results) {
  std::apply([](const T&... result) { (forget_temporary_base(result), ...); }, results);
}

/// out= variants record nothing, so they refuse tensors that require grad.
template <class... T>
void check_out_requires_no_grad(const char* op, const T&... tensors) {
  if (C10_UNLIKELY(compute_requires_grad(tensors...))) detail::throw_out_requires_grad(op);
}

/// Shape and type of an input that was broadcast and promoted: its gradient must be reduced to
/// them.
struct TORCH_PY_API InputInfo {
  InputInfo() = default;
  explicit InputInfo(const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    sizes = tensor.sizes();
    dtype = tensor.scalar_type();
    device = tensor.device();
  }

  c10::DimVector sizes;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  c10::Device device;
};

/// Sums over the dimensions in which the input was expanded, and casts to its dtype (for a complex
/// gradient of a real input, takes the real part). Undefined stays undefined. Returns `grad` itself
/// if there is nothing to do.
TORCH_PY_API at::Tensor reduce_grad(const at::Tensor& grad, const InputInfo& input);
/// The real part of a complex gradient for an edge that leads to a real tensor; other gradients
/// unchanged.
TORCH_PY_API at::Tensor real_if_input_is(const at::Tensor& grad, const Edge& edge);
/// Zeros shaped like the output if the gradient is undefined; otherwise the gradient.
TORCH_PY_API at::Tensor materialize_grad(const at::Tensor& grad, const InputInfo& output);

}  // namespace torch::autograd
