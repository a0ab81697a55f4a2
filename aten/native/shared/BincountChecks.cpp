// The checks of bincount.
#include "aten/native/shared/BincountChecks.h"

#include <algorithm>
#include <limits>

namespace at::native {

void check_bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  if (!is_integral(self.scalar_type(), false)) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "\"bincount_cpu\" not implemented for '", self.scalar_type(),
                                "'");
  }
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0, got ", minlength);
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs, got ",
              self.dim(), " dimensions");
  TORCH_CHECK(self.numel() == 0 || !weights.defined() ||
                  (weights.dim() == 1 && weights.numel() == self.numel()),
              "weights should be 1-d and have the same length as input");
}

int64_t bincount_size(int64_t least, int64_t most, int64_t minlength) {
  TORCH_CHECK(least >= 0, "bincount only supports 1-d non-negative integral inputs, got ", least);
  TORCH_CHECK(most < std::numeric_limits<int64_t>::max(),
              "maximum value of input overflowed, it should be < ",
              std::numeric_limits<int64_t>::max(), " but got ", most);
  return std::max(minlength, most + 1);
}

}  // namespace at::native
