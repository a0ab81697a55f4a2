#pragma once
// Views on a tensor's memory, and helpers for their shapes and dimensions.
#include "aten/core/Tensor.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

/// Set by autograd, which records the version at which a view was made without grad mode; null
/// until then.
TORCH_PY_API extern void (*note_untracked_view)(TensorImpl& view);

/// Records that `impl`, which uses the memory of `base`, is a view of it. See Note [Views] in
/// c10/core/TensorImpl.h.
inline Tensor as_view_of(const Tensor& base, intrusive_ptr<TensorImpl> impl) {
  impl->set_view_of(base.impl());
  // Autograd's own call runs below autograd and decides the origin itself.
  const LocalState& state = local_state();
  if ((!state.grad_mode || state.inference_mode) && state.below_autograd == 0) {
    impl->set_view_origin(ViewOrigin::NoGradMode);
    if (note_untracked_view != nullptr && impl->key_set().has_any(kAutogradKeys))
      note_untracked_view(*impl);
  }
  return Tensor(std::move(impl));
}

/// A view of `self` with another dtype and geometry; strides and offset count elements of `dtype`.
inline Tensor view_with_dtype(const Tensor& self, ScalarType dtype, IntArrayRef sizes,
                              IntArrayRef strides, int64_t offset) {
  auto impl = make_intrusive<TensorImpl>(self.storage(), dtype, self.device(),
                                         self.key_set() - kAutogradKeys);
  impl->set_sizes_and_strides(sizes, strides, offset);
  return as_view_of(self, std::move(impl));
}

/// A view of `self` with another geometry (strides and offset in elements).
inline Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes,
                                           IntArrayRef strides, int64_t offset) {
  auto impl = make_intrusive<TensorImpl>(self.storage(), self.scalar_type(), self.device(),
                                         self.key_set() - kAutogradKeys);
  impl->set_sizes_and_strides(sizes, strides, offset);
  return as_view_of(self, std::move(impl));
}

/// `result` of a reduction of `self` along `dim`, with that dimension as one of size 1: its lanes
/// match those of `self` then, whether or not the dimension was kept.
inline Tensor with_dim(const Tensor& result, const Tensor& self, int64_t dim) {
  return result.dim() == self.dim() ? result : result.unsqueeze(dim);
}

/// The strides of a view of `shape` on memory of the given sizes and strides, or nullopt if only a
/// copy can have that shape.
TORCH_PY_API std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                                   IntArrayRef shape);

/// `shape` with a -1 replaced by the size that gives `numel` elements. Errors have PyTorch's
/// messages.
TORCH_PY_API DimVector infer_size(IntArrayRef shape, int64_t numel);

/// A dimension of a tensor of `sizes`, in [0, ndim); a tensor without dimensions raises IndexError.
inline int64_t wrap_dim_of(IntArrayRef sizes, int64_t dim) {
  TORCH_CHECK_INDEX(!sizes.empty(), "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, static_cast<int64_t>(sizes.size()));
}

/// The dimensions `dims`, each in [0, ndim); repetitions raise an error.
TORCH_PY_API DimVector wrap_dims(IntArrayRef dims, int64_t ndim);

/// The first index of a slice and its number of elements. Negative ends count from the end of the
/// dimension, and both are clipped to [0, size].
struct SliceRange {
  int64_t start;
  int64_t length;
};
TORCH_PY_API SliceRange slice_range(int64_t size, std::optional<int64_t> start,
                                    std::optional<int64_t> end, int64_t step);

}  // namespace at::native
