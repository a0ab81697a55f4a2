#pragma once
// What unique along a dimension checks, on every device.
#include <algorithm>

#include "aten/core/Tensor.h"

namespace at::native {

inline int64_t slice_dim(const Tensor& self, int64_t dim) {
  TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

inline void check_sliceable(const Tensor& self, int64_t dim) {
  const int64_t empty = std::count(self.sizes().begin(), self.sizes().end(), 0);

  if (self.sizes()[dim] == 0) {
    TORCH_CHECK(
        empty == 1,
        "Number of zero sized dimensions is more than one, so unique cannot be applied, got sizes ",
        self.sizes());
  } else {
    TORCH_CHECK(empty == 0,
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                "applied, got sizes ",
                self.sizes());
  }
}

}  // namespace at::native
