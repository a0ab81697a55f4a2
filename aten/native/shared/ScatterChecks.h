#pragma once
// Checks of the arguments of scatter_reduce.
#include <algorithm>

#include "aten/iteration/Lanes.h"

namespace at::native {

/// Raises unless each element of `index` has a place in the lanes of self, and in src.
inline void check_scatter_sizes(const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& src) {
  TORCH_CHECK(self.device() == index.device() && self.device() == src.device(),
              "scatter(): self, index and src must be on one device, got ", self.device(), ", ",
              index.device(), " and ", src.device());
  if (index.numel() == 0) return;

  const int64_t ndim = std::max<int64_t>(1, self.dim());
  TORCH_CHECK(
      ndim == std::max<int64_t>(1, index.dim()) && ndim == std::max<int64_t>(1, src.dim()),
      "Index tensor must have the same number of dimensions as self and src tensor, got index ",
      index.sizes(), ", self ", self.sizes(), " and src ", src.sizes());

  for (int64_t d = 0; d < ndim; ++d) {
    const int64_t size = lane_size(index, d);
    TORCH_CHECK((d == dim || size <= lane_size(self, d)) && size <= lane_size(src, d),
                "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", dim, " and to be no larger size than src ", src.sizes());
  }
}

}  // namespace at::native
