// Running extrema, which are compiled apart from the sums.
#pragma once
#include "aten/core/Tensor.h"

namespace at::native::cuda {

/// Writes the running extrema of `self` along `dim`, and their positions.
void running_extrema(const char* name, bool is_max, const Tensor& self, int64_t dim,
                     const Tensor& values, const Tensor& indices);

}  // namespace at::native::cuda
