#pragma once
// Reduced tensors with the sizes they have with keepdim, for gradients of reductions.
#include "aten/core/Tensor.h"
#include "aten/ops/reshape.h"

namespace at::native {

/// Sizes of a result of `sizes` reduced over `dims` (none: all) with keepdim.
inline DimVector kept_sizes(IntArrayRef sizes, OptionalIntArrayRef dims) {
  DimVector kept(sizes.size(), 1);
  if (!dims.has_value() || dims->empty()) return kept;

  kept = DimVector(sizes);
  for (const int64_t dim : *dims) {
    const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    if (!sizes.empty()) kept[d] = 1;
  }
  return kept;
}

/// A reduced tensor with its reduced dimensions put back, of size 1.
inline Tensor with_kept_dims(const Tensor& reduced, IntArrayRef sizes, OptionalIntArrayRef dims,
                             bool keepdim) {
  return keepdim ? reduced : at::reshape(reduced, kept_sizes(sizes, dims));
}

}  // namespace at::native
