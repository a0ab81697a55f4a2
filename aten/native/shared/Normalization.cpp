// Checks, dtypes and gradients that the normalization layers share.
#include "aten/native/shared/Normalization.h"

#include "aten/ops/mean.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/reshape.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/square.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

void check_parameter(const Tensor& input, const Tensor& parameter) {
  if (!parameter.defined()) return;

  const ScalarType type = parameter.scalar_type();
  const ScalarType expected = input.scalar_type();
  TORCH_CHECK(type == expected || type == to_accumulate(expected),
              "mixed dtype (CPU): expect parameter to have scalar type of ",
              to_accumulate(expected), ", got ", type);
  TORCH_CHECK(parameter.device() == input.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              input.device(), " and ", parameter.device(), "!");
}

void check_gradient(const char* op, const Tensor& grad, const Tensor& input) {
  TORCH_CHECK(grad.sizes() == input.sizes() && grad.scalar_type() == input.scalar_type() &&
                  grad.device() == input.device(),
              op, ": expected a gradient like the input of ", input.scalar_type(), " ",
              input.sizes(), ", got ", grad.scalar_type(), " ", grad.sizes(), " on ",
              grad.device());
}

void check_statistic(const char* op, const Tensor& statistic, const Tensor& input, int64_t count) {
  const ScalarType wide = to_accumulate(input.scalar_type());
  TORCH_CHECK(statistic.numel() == count && statistic.scalar_type() == wide &&
                  statistic.device() == input.device(),
              op, ": expected ", count, " statistics of ", wide, " on ", input.device(), ", got ",
              statistic.scalar_type(), " ", statistic.sizes(), " on ", statistic.device());
}

ScalarType statistics_dtype(const Tensor& input, std::initializer_list<Tensor> parameters) {
  for (const Tensor& parameter : parameters) {
    if (parameter.defined() && parameter.scalar_type() == kFloat) return kFloat;
  }
  return input.scalar_type();
}

Tensor widened(const Tensor& tensor) { return tensor.to(to_accumulate(tensor.scalar_type())); }

std::tuple<Tensor, Tensor, Tensor> with_dtypes(const Tensor& grad_input, const Tensor& input,
                                               const Tensor& grad_weight, const Tensor& weight,
                                               const Tensor& grad_bias, ScalarType bias_type) {
  return {grad_input.defined() ? grad_input.to(input.scalar_type()) : grad_input,
          grad_weight.defined() ? grad_weight.to(weight.scalar_type()) : grad_weight,
          grad_bias.defined() ? grad_bias.to(bias_type) : grad_bias};
}

FusedGradients::FusedGradients(const Tensor& input, const TensorSpec& spec, const Tensor& weight,
                               const Tensor& bias, IntArrayRef parameter_sizes) {
  const ScalarType wide = to_accumulate(input.scalar_type());
  if (input.requires_grad()) this->input = empty_from_spec(spec);
  if (weight.defined()) this->weight = empty_tensor(parameter_sizes, wide, input.device());
  if (bias.defined()) this->bias = empty_tensor(parameter_sizes, wide, input.device());
}

std::tuple<Tensor, Tensor, Tensor> FusedGradients::in_dtypes_of(const Tensor& weight,
                                                                const Tensor& bias) const {
  return {input, this->weight.defined() ? this->weight.to(weight.scalar_type()) : this->weight,
          this->bias.defined() ? this->bias.to(bias.scalar_type()) : this->bias};
}

Tensor along_channels(const Tensor& tensor, int64_t dim) {
  DimVector sizes(dim, 1);
  sizes[1] = tensor.numel();
  return at::reshape(tensor, sizes);
}

Normalized::Normalized(const Tensor& x, IntArrayRef dims, const Tensor& mean,
                       const Tensor& saved_rstd) {
  if (!GradMode::is_enabled()) {
    rstd = saved_rstd;
    values = (x - mean) * rstd;
    return;
  }

  // saved_rstd = 1 / sqrt(variance + eps) determines eps.
  const Tensor centered = x - at::mean(x, dims, true);
  const Tensor variance = at::mean(at::square(centered), dims, true);
  const Tensor eps = (at::reciprocal(at::square(saved_rstd)) - variance).detach();
  rstd = at::rsqrt(variance + eps);
  values = centered * rstd;
}

// y = (x - mean) / sigma with sigma = sqrt(var + eps) gives
// dL/dx = (g - mean(g) - y mean(g y)) / sigma.
Tensor Normalized::gradient(const Tensor& grad, IntArrayRef dims) const {
  return (grad - at::mean(grad, dims, true) - values * at::mean(grad * values, dims, true)) * rstd;
}

}  // namespace at::native
