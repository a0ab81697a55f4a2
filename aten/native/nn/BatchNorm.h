#pragma once
// The checks of batch normalization's gradient, for its kernel.
#include "aten/core/Tensor.h"

namespace at::native {

/// Checks that sizes and dtypes agree: kernels of gradients read the memory of all arguments.
TORCH_PY_API void check_batch_norm_backward(const Tensor& grad, const Tensor& input,
                                            const Tensor& weight, const Tensor& bias,
                                            const Tensor& mean, const Tensor& rstd);

}  // namespace at::native
