#pragma once
#include <tuple>

#include "aten/core/Tensor.h"

namespace at::native {

/// Gradients of an input and its parameters with the dtypes of what they belong to; undefined ones
/// stay undefined.
std::tuple<Tensor, Tensor, Tensor> with_dtypes(const Tensor& grad_input, const Tensor& input,
                                               const Tensor& grad_weight, const Tensor& weight,
                                               const Tensor& grad_bias, ScalarType bias_type);

/// Kernels of gradients read the memory of all their arguments, whose sizes and dtypes must agree.
void check_layer_norm_backward(const Tensor& grad, const Tensor& input,
                               IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                               const Tensor& weight, const Tensor& bias);
void check_batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                               const Tensor& bias, const Tensor& mean, const Tensor& rstd);

void check_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                      const Tensor& bias);
void check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight);

/// A result of a fused kernel; undefined when nobody wants it.
Tensor result_for(bool wanted, IntArrayRef sizes, ScalarType dtype);

}  // namespace at::native
