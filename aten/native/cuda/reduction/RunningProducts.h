// Running products, which are compiled apart from the sums.
#pragma once
#include "aten/core/Tensor.h"

namespace at::native::cuda {

/// Writes the running products of `self` along `dim`.
void running_products(const Tensor& self, int64_t dim, const Tensor& out);

}  // namespace at::native::cuda
