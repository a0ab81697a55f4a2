// History of views: what an in-place change of a view, its base or another view does to it.
#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

// Note [Views and in-place changes]
//
// For each view, c10 records its root base, a version counter that the two share, and a ViewOrigin.
// This is enough to differentiate through in-place changes, because any strided view is a function
// of its base alone: reinterpret the base's memory with the view's sizes, strides, offset and dtype
// (including complex numbers as pairs of reals). No chain of view functions is stored.
//
// * An in-place change of a base works like any operator: the base's old grad_fn is the first input
//   of the new one.
// * An in-place change of a view v of base b by node f (rebase_history) makes b's new history
//   CopySlices(b, f): "b with v's part replaced by f(v's part, ...)". It passes the gradient of b
//   on with v's part taken out, and sends v's part through f.
// * After that, v and every other view of b show a new value, while their stored grad_fn describes
//   the old one. The version counter reveals this: history_version is the version that grad_fn
//   belongs to. Reading grad_fn of an outdated view gives it AsStridedBackward, a view of the base
//   as it is now.
// * A view made while its base needed no gradient never met autograd and has no stored history. It
//   is up to date until its base gets a grad_fn.
// * Views made without grad mode, outputs of an operator with several views, and views that custom
//   Functions return must not be changed: it would be ambiguous which gradient is meant, or the
//   custom backward would be lost. ViewOrigin tells them apart; the errors are PyTorch's.
//
// Tested in tests/torch_py/test_autograd_inplace.py.

/// How the elements of a tensor lie in its storage.
struct StridedGeometry {
  StridedGeometry() = default;
  explicit StridedGeometry(const at::Tensor& tensor);

  /// The bytes [first, last), counted from the start of the storage.
  int64_t first_byte() const { return storage_offset * itemsize(); }
  int64_t last_byte() const;
  int64_t itemsize() const { return static_cast<int64_t>(c10::element_size(dtype)); }
  int64_t numel() const;

  c10::DimVector sizes;
  c10::DimVector strides;
  int64_t storage_offset = 0;  // in elements of `dtype`
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  c10::Device device;
};

/// The up-to-date grad_fn of a view.
NodePtr grad_fn_of_view(const at::Tensor& view);

/// Makes `node`, which changed `view` in place, part of the history of the view's base. Edge `edge`
/// of the node leads to the view.
void rebase_history_of_view(const at::Tensor& view, const NodePtr& node, size_t edge);

/// The view as an output of its base's node, for a view that was just changed in place. Null unless
/// `copy_slices` is the node that rebase_history_of_view made. Each call makes a new node.
NodePtr view_of_copy_slices(const NodePtr& copy_slices);

/// Throws PyTorch's error if a view of this origin must not be changed. `indirect` means that its
/// base or another view of the base was.
void check_view_origin(const at::Tensor& view, bool indirect);

/// A differentiable view of `base` whose geometry counts from byte `origin_byte` of base's storage.
at::Tensor strided_alias(const at::Tensor& base, const StridedGeometry& geometry,
                         int64_t origin_byte);

/// The gradient of a base of which only `view` was used: zero elsewhere. Elements that the view
/// shows more than once get the sum.
at::Tensor scatter_view_gradient(const at::Tensor& grad, const StridedGeometry& base,
                                 const StridedGeometry& view);

}  // namespace torch::autograd
