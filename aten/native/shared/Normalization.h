#pragma once
// Shared by the normalization layers: checks, dtypes, and the gradient of normalized values.
#include <initializer_list>
#include <tuple>

#include "aten/core/Tensor.h"

namespace at::native {

/// Checks the dtype and the device of a weight or bias. Those of a float16 or bfloat16 input may
/// also be float32.
TORCH_PY_API void check_parameter(const Tensor& input, const Tensor& parameter);

/// Checks that a gradient has the sizes, dtype and device of the input.
TORCH_PY_API void check_gradient(const char* op, const Tensor& grad, const Tensor& input);

/// Checks that a saved mean or rstd has `count` elements of the accumulation dtype.
TORCH_PY_API void check_statistic(const char* op, const Tensor& statistic, const Tensor& input,
                                  int64_t count);

/// The normalized values of `x` over `dims` and rstd = 1 / sqrt(var + eps). While a graph is
/// recorded, both are computed from x again, so that gradients reach it; `saved_rstd` then
/// determines eps.
struct Normalized {
  Tensor values, rstd;

  Normalized(const Tensor& x, IntArrayRef dims, const Tensor& mean, const Tensor& saved_rstd);

  /// The gradient of x from that of the normalized values.
  Tensor gradient(const Tensor& grad, IntArrayRef dims) const;
};

/// The dtype of returned statistics: float if a parameter is, otherwise that of the input.
ScalarType statistics_dtype(const Tensor& input, std::initializer_list<Tensor> parameters);

/// float16 and bfloat16 as float.
Tensor widened(const Tensor& tensor);

/// A vector of channels as (1, channels, 1, ...) with `dim` dimensions.
Tensor along_channels(const Tensor& tensor, int64_t dim);

/// Converts the gradients of an input and its parameters to the dtypes of these. Undefined
/// gradients stay undefined.
std::tuple<Tensor, Tensor, Tensor> with_dtypes(const Tensor& grad_input, const Tensor& input,
                                               const Tensor& grad_weight, const Tensor& weight,
                                               const Tensor& grad_bias, ScalarType bias_type);

/// The gradients that a fused kernel writes; those of the parameters are in the accumulation dtype.
/// Gradients that are not wanted are undefined.
struct TORCH_PY_API FusedGradients {
  Tensor input, weight, bias;

  /// Memory for the gradients: that of the input has the sizes and strides of `spec`.
  FusedGradients(const Tensor& input, const TensorSpec& spec, const Tensor& weight,
                 const Tensor& bias, IntArrayRef parameter_sizes);

  /// The gradients in the dtypes of the parameters.
  std::tuple<Tensor, Tensor, Tensor> in_dtypes_of(const Tensor& weight, const Tensor& bias) const;
};

}  // namespace at::native
