#pragma once
#include "aten/core/Tensor.h"
#include "aten/dispatch/ChooseKernel.h"

// Gradients of normalizations in few passes, for backward runs that record no graph; the differentiable compositions are in
// Normalization.cpp. Any result may be undefined, and is then not computed. Results are contiguous; gradients of weight and bias,
// mean and rstd (1 / sqrt(var + eps)) have the dtype that sums are made in.

namespace at::native {

/// Over the last dimensions, which have the elements of `normalized_size`.
TORCH_PY_KERNEL(void layer_norm_backward_kernel(const Tensor& grad, const Tensor& input, int64_t normalized_size, const Tensor& mean,
                                                const Tensor& rstd, const Tensor& weight, const Tensor& grad_input,
                                                const Tensor& grad_weight, const Tensor& grad_bias))

/// Over all dimensions but the second.
TORCH_PY_KERNEL(void batch_norm_backward_kernel(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                const Tensor& rstd, const Tensor& grad_input, const Tensor& grad_weight,
                                                const Tensor& grad_bias))

}  // namespace at::native
