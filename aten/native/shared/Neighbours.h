#pragma once
// The upper and the lower element of each pair of neighbours along a dimension, for differences and
// sums of neighbours.
#include "aten/core/Tensor.h"
#include "aten/ops/narrow.h"

namespace at::native {

/// All but the first.
inline Tensor upper(const Tensor& self, int64_t dim) {
  return at::narrow(self, dim, 1, self.size(dim) - 1);
}

/// All but the last.
inline Tensor lower(const Tensor& self, int64_t dim) {
  return at::narrow(self, dim, 0, self.size(dim) - 1);
}

}  // namespace at::native
