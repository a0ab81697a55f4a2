#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// Kernels of gradients read the memory of all their arguments, whose sizes and dtypes must agree.
void check_batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                               const Tensor& bias, const Tensor& mean, const Tensor& rstd);

}  // namespace at::native
