#pragma once
// What the normalization layers share: checks, and the gradients of normalized values.
#include <tuple>

#include "aten/core/Tensor.h"

namespace at::native {

/// Weights of a reduced input may be float.
void check_parameter(const Tensor& input, const Tensor& parameter);
void check_gradient(const char* op, const Tensor& grad, const Tensor& input);
void check_statistic(const char* op, const Tensor& statistic, const Tensor& input, int64_t count);

/// Normalized values and 1 / sqrt(var + eps) of `x` over `dims`. While a graph is recorded they are
/// computed from x again, because they depend on it; `rstd` then tells eps.
struct Normalized {
  Tensor values, rstd;

  Normalized(const Tensor& x, IntArrayRef dims, const Tensor& mean, const Tensor& saved_rstd);

  /// Gradient of what was normalized from that of the normalized values.
  Tensor gradient(const Tensor& grad, IntArrayRef dims) const;
};

/// float16 and bfloat16 as float.
Tensor widened(const Tensor& tensor);

/// (channels) as (1, channels, 1, ...).
Tensor along_channels(const Tensor& tensor, int64_t dim);

/// Gradients of an input and its parameters with the dtypes of what they belong to; undefined ones
/// stay undefined.
std::tuple<Tensor, Tensor, Tensor> with_dtypes(const Tensor& grad_input, const Tensor& input,
                                               const Tensor& grad_weight, const Tensor& weight,
                                               const Tensor& grad_bias, ScalarType bias_type);

/// A result of a fused kernel; undefined when nobody wants it.
Tensor result_for(bool wanted, IntArrayRef sizes, ScalarType dtype);

}  // namespace at::native
