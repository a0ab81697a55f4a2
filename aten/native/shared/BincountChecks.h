#pragma once
// What bincount requires of its arguments, on all devices.
#include "aten/core/Tensor.h"

namespace at::native {

TORCH_PY_API void check_bincount(const Tensor& self, const Tensor& weights, int64_t minlength);

/// The size of the result for numbers from `least` to `most`. Raises RuntimeError for negative
/// ones.
TORCH_PY_API int64_t bincount_size(int64_t least, int64_t most, int64_t minlength);

}  // namespace at::native
