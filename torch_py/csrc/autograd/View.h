#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

// Note [Views and in-place changes]
//
// c10 records of a view its root base, a version counter shared with it, and a ViewOrigin. That is
// enough to differentiate through in-place changes, because any strided view is a function of its
// base alone: reinterpret the base's memory with the view's sizes, strides, offset and dtype
// (complex as pairs of reals included). No chain of view functions is stored.
//
// * In-place change of a base: like any operator. The base's old grad_fn is the first input of the
// new one.
// * In-place change of a view v of base b by node f (rebase_history): b's new history is
// CopySlices(b, f), "b with v's part
//   replaced by f(v's part, ...)". It passes the gradient of b on with v's part taken out, and v's
//   part through f.
// * Every other view of b, and v itself, then shows a new value while its stored grad_fn speaks of
// the old one. The version
//   counter tells: history_version is the version that grad_fn belongs to. Reading grad_fn of an
//   outdated view gives it AsStridedBackward, a view of the base as it is now.
// * A view made while its base needed no gradient never met autograd and has no stored history; it
// is up to date exactly
//   until its base gets a grad_fn.
// * Views made without grad mode, outputs of an operator with several views, and views out of
// custom Functions may not be
//   changed: which gradient is meant is ambiguous, or the custom backward would be lost. ViewOrigin
//   tells; PyTorch's errors.
//
// tests/torch_py/autograd/test_inplace.py

/// How elements of a type lie in a storage.
struct StridedGeometry {
  StridedGeometry() = default;
  explicit StridedGeometry(const at::Tensor& tensor);

  /// Bytes from the start of the storage: [first, last).
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

/// Up-to-date grad_fn of a view.
NodePtr grad_fn_of_view(const at::Tensor& view);

/// Makes `node`, which changed `view` in place, part of the history of the view's base. `edge` of
/// the node leads to the view.
void rebase_history_of_view(const at::Tensor& view, const NodePtr& node, size_t edge);

/// The view as an output of its base's node, for a view that was just changed in place: null unless
/// `copy_slices` is the node that rebase_history_of_view made. Each call makes a new node.
NodePtr view_of_copy_slices(const NodePtr& copy_slices);

/// Throws PyTorch's error when a view of this origin may not be changed; `indirect`: its base or
/// another view of it was.
void check_view_origin(const at::Tensor& view, bool indirect);

/// A differentiable view of `base` whose geometry counts from byte `origin` of base's storage.
at::Tensor strided_alias(const at::Tensor& base, const StridedGeometry& geometry,
                         int64_t origin_byte);

/// Gradient of a base of which only `view` was used: zero elsewhere; elements that the view shows
/// twice get the sum.
at::Tensor scatter_view_gradient(const at::Tensor& grad, const StridedGeometry& base,
                                 const StridedGeometry& view);

}  // namespace torch::autograd
