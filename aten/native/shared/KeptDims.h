#pragma once
// Restores the reduced dimensions of a result as with keepdim=True, for gradients of reductions.
#include "aten/core/Tensor.h"
#include "aten/ops/reshape.h"

namespace at::native {

/// `sizes` with 1 for each reduced dimension. Empty or absent `dims` mean all dimensions.
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

/// The result of a reduction over `dims` of a tensor of `sizes`, with the reduced dimensions as
/// size 1.
inline Tensor with_kept_dims(const Tensor& reduced, IntArrayRef sizes, OptionalIntArrayRef dims,
                             bool keepdim) {
  return keepdim ? reduced : at::reshape(reduced, kept_sizes(sizes, dims));
}

}  // namespace at::native
