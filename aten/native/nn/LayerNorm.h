#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// Kernels of gradients read the memory of all their arguments, whose sizes and dtypes must agree.
void check_layer_norm_backward(const Tensor& grad, const Tensor& input,
                               IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                               const Tensor& weight, const Tensor& bias);

void check_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias);
void check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight);

}  // namespace at::native
