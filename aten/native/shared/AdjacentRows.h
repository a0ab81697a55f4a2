#pragma once
// Reductions of elements that are adjacent in memory.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/native/shared/ViewHelpers.h"

namespace at::native {

/// The number of elements of each result if they are adjacent in memory: the reduced dimensions
/// are the innermost of a contiguous tensor, or all dimensions of a dense one. Otherwise 0. No
/// `dim`, or an empty one, is all dimensions.
inline int64_t length_of_rows(const Tensor& self, OptionalIntArrayRef dim) {
  const bool all = !dim.has_value() || dim->empty();
  const DimVector dims = all ? DimVector() : wrap_dims(*dim, self.dim());
  if (all || static_cast<int64_t>(dims.size()) == self.dim())
    return self.is_non_overlapping_and_dense() ? self.numel() : 0;
  if (!self.is_contiguous()) return 0;

  int64_t length = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) return 0;
    length *= self.sizes()[d];
  }
  return length;
}

}  // namespace at::native
