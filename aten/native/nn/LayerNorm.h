#pragma once
// Argument checks of layer, group and RMS norm, which their kernels use, too.
#include "aten/core/Tensor.h"

namespace at::native {

/// Checks sizes and dtypes, because the gradient's kernel reads the memory of all its arguments.
TORCH_PY_API void check_layer_norm_backward(const Tensor& grad, const Tensor& input,
                                            IntArrayRef normalized_shape, const Tensor& mean,
                                            const Tensor& rstd, const Tensor& weight,
                                            const Tensor& bias);

TORCH_PY_API void check_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias);

TORCH_PY_API void check_rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                                 const Tensor& weight);

}  // namespace at::native
