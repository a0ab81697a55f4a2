#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

// What autograd kernels, generated ones and those of custom Functions, call to record history.

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

// std::vector<Tensor> and the like convert to TensorList; a Tensor must not (as a list of one it
// would lose its meaning).
inline const at::Tensor& tensor_or_list(const at::Tensor& tensor) { return tensor; }
inline at::TensorList tensor_or_list(at::TensorList tensors) { return tensors; }
template <class Container>
  requires(!std::is_same_v<Container, at::Tensor> && !std::is_same_v<Container, at::TensorList> &&
           std::is_convertible_v<const Container&, at::TensorList>)
at::TensorList tensor_or_list(const Container& tensors) {
  return tensors;
}

}  // namespace detail

/// Whether a call on these tensors is to be recorded. Each is a Tensor, defined or not, or a
/// TensorList.
template <class... T>
bool compute_requires_grad(const T&... tensors) {
  return c10::GradMode::is_enabled() && !c10::local_state().inference_mode &&
         (detail::any_requires_grad(detail::tensor_or_list(tensors)) || ...);
}

/// One edge per Tensor, size() per TensorList, in order; invalid ones for tensors that need no
/// gradient.
template <class... T>
edge_list collect_next_edges(const T&... tensors) {
  edge_list edges;
  (detail::collect_edges(edges, detail::tensor_or_list(tensors)), ...);
  return edges;
}

/// `output` becomes the next output of `node`. One that takes no gradient (undefined, integral) has
/// a number and no history.
TORCH_PY_API void set_history(const at::Tensor& output, const NodePtr& node);
TORCH_PY_API void set_history(at::TensorList outputs, const NodePtr& node);
/// `self` was changed in place by `node`, whose `edge` is the old value of `self`. See Note [Views
/// and in-place changes].
TORCH_PY_API void rebase_history(const at::Tensor& self, const NodePtr& node, size_t edge = 0);
/// Before the change: throws when it is not allowed (leaves, views of leaves, some views).
/// `requires_grad`: it will be recorded.
TORCH_PY_API void check_inplace(const at::Tensor& self, bool requires_grad, const char* op);
/// Completes a view made by an autograd kernel, before set_history. The kernel below has set its
/// base.
TORCH_PY_API at::Tensor as_view(const at::Tensor& base, at::Tensor view, c10::ViewOrigin origin);
/// Of an operator that is no view: a kernel may have returned a view of memory that it made itself,
/// of which nobody else knows. As a view, it would have its history in that memory, which has none.
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

/// What a gradient must be reduced to: shape and type of an input that was broadcast and promoted.
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

/// Sums over the dimensions that the input was expanded in, and casts to its dtype (a complex
/// gradient of a real input: the real part). Undefined stays undefined; with nothing to do, `grad`
/// itself is returned.
TORCH_PY_API at::Tensor reduce_grad(const at::Tensor& grad, const InputInfo& input);
/// The sum only: shape `sizes` must broadcast to that of `grad`.
TORCH_PY_API at::Tensor sum_to_size(const at::Tensor& grad, c10::IntArrayRef sizes);
/// The real part of a complex gradient for an edge that leads to a real tensor; every other
/// gradient as it is.
TORCH_PY_API at::Tensor real_if_input_is(const at::Tensor& grad, const Edge& edge);
/// Zeros like the output in place of an undefined gradient.
TORCH_PY_API at::Tensor materialize_grad(const at::Tensor& grad, const InputInfo& output);

}  // namespace torch::autograd
