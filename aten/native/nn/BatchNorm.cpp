// Layer, batch and group normalization: shapes, running statistics, and gradients as compositions.
#include "aten/native/shared/Normalization.h"

#include <limits>
#include <string>

#include "aten/native/shared/ResultFormat.h"
#include "aten/native/declarations/nn/BatchNorm.h"
#include "aten/ops/_batch_norm_train.h"
#include "aten/ops/addcmul.h"
#include "aten/ops/lerp.h"
#include "aten/ops/mean.h"
#include "aten/ops/native_batch_norm.h"
#include "aten/ops/native_layer_norm.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/reshape.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/square.h"
#include "aten/ops/sub.h"
#include "aten/ops/sum.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

namespace {

/// Weights of a reduced input may be float.
void check_parameter(const Tensor& input, const Tensor& parameter) {
  if (!parameter.defined()) return;
  const ScalarType type = parameter.scalar_type(), expected = input.scalar_type();
  TORCH_CHECK(type == expected || type == to_accumulate(expected),
              "mixed dtype (CPU): expect parameter to have scalar type of ",
              to_accumulate(expected), ", got ", type);
  TORCH_CHECK(parameter.device() == input.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              input.device(), " and ", parameter.device(), "!");
}

void check_channels(const char* name, const Tensor& parameter, int64_t channels) {
  TORCH_CHECK(!parameter.defined() || parameter.numel() == channels, name, " should contain ",
              channels, " elements not ", parameter.defined() ? parameter.numel() : 0);
}

/// Normalized values and 1 / sqrt(var + eps) of `x` over `dims`. While a graph is recorded they are
/// computed from x again, because they depend on it; `rstd` then tells eps.
struct Normalized {
  Tensor values, rstd;

  Normalized(const Tensor& x, IntArrayRef dims, const Tensor& mean, const Tensor& saved_rstd) {
    if (!GradMode::is_enabled()) {
      rstd = saved_rstd;
      values = (x - mean) * rstd;
      return;
    }
    const Tensor centered = x - at::mean(x, dims, true);
    const Tensor variance = at::mean(at::square(centered), dims, true);
    const Tensor eps = (at::reciprocal(at::square(saved_rstd)) - variance).detach();
    rstd = at::rsqrt(variance + eps);
    values = centered * rstd;
  }

  /// Gradient of what was normalized from that of the normalized values.
  Tensor gradient(const Tensor& grad, IntArrayRef dims) const {
    return (grad - at::mean(grad, dims, true) - values * at::mean(grad * values, dims, true)) *
           rstd;
  }
};

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

Tensor widened(const Tensor& tensor) { return tensor.to(to_accumulate(tensor.scalar_type())); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> with_dtypes(const Tensor& grad_input, const Tensor& input,
                                               const Tensor& grad_weight, const Tensor& weight,
                                               const Tensor& grad_bias, ScalarType bias_type) {
  return {grad_input.defined() ? grad_input.to(input.scalar_type()) : grad_input,
          grad_weight.defined() ? grad_weight.to(weight.scalar_type()) : grad_weight,
          grad_bias.defined() ? grad_bias.to(bias_type) : grad_bias};
}

Tensor result_for(bool wanted, IntArrayRef sizes, ScalarType dtype) {
  return wanted ? empty_tensor(sizes, dtype, kCPU) : Tensor();
}

// -- layer norm
// ------------------------------------------------------------

namespace {

DimVector dims_range(int64_t begin, int64_t end) {
  DimVector dims;
  for (int64_t d = begin; d < end; ++d) dims.push_back(d);
  return dims;
}

void check_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                      const Tensor& bias) {
  TORCH_CHECK(!normalized_shape.empty(),
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
              "one element, but got "
              "normalized_shape = ",
              normalized_shape);
  for (const auto& [name, parameter] :
       {std::pair<const char*, const Tensor&>{"weight", weight}, {"bias", bias}}) {
    TORCH_CHECK(!parameter.defined() || parameter.sizes() == normalized_shape, "Expected ", name,
                " to be of same shape as normalized_shape, but got ", name, " of shape ",
                parameter.defined() ? parameter.sizes() : IntArrayRef(),
                " and normalized_shape = ", normalized_shape);
  }
  const size_t n = normalized_shape.size(), ndim = input.sizes().size();
  if (ndim >= n && input.sizes().slice(ndim - n) == normalized_shape) return;
  std::string expected = "[*";
  for (const int64_t size : normalized_shape) expected += ", " + std::to_string(size);
  TORCH_CHECK(false, "Given normalized_shape=", normalized_shape, ", expected input with shape ",
              expected, "], but got input of size", input.sizes());
}

}  // namespace

void check_layer_norm_backward(const Tensor& grad, const Tensor& input,
                               IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                               const Tensor& weight, const Tensor& bias) {
  check_layer_norm(input, normalized_shape, weight, bias);
  check_parameter(input, weight);
  check_parameter(input, bias);
  check_gradient("layer_norm_backward", grad, input);
  int64_t rows = 1;
  for (const int64_t size : input.sizes().slice(0, input.sizes().size() - normalized_shape.size()))
    rows *= size;
  check_statistic("layer_norm_backward", mean, input, rows);
  check_statistic("layer_norm_backward", rstd, input, rows);
}

std::tuple<TensorSpec, TensorSpec, TensorSpec> layer_norm_shape(const Tensor& input,
                                                                IntArrayRef normalized_shape,
                                                                const Tensor& weight,
                                                                const Tensor& bias, double) {
  check_layer_norm(input, normalized_shape, weight, bias);
  check_parameter(input, weight);
  check_parameter(input, bias);
  DimVector statistics(input.sizes());
  for (size_t d = statistics.size() - normalized_shape.size(); d < statistics.size(); ++d)
    statistics[d] = 1;
  const TensorSpec per_row{statistics, to_accumulate(input.scalar_type()), input.device()};
  return {{DimVector(input.sizes()), input.scalar_type(), input.device()}, per_row, per_row};
}

std::tuple<Tensor, Tensor, Tensor> _layer_norm_backward(const Tensor& grad, const Tensor& input,
                                                        IntArrayRef normalized_shape,
                                                        const Tensor& mean, const Tensor& rstd,
                                                        const Tensor& weight, const Tensor& bias) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  const int64_t first = input.dim() - static_cast<int64_t>(normalized_shape.size());
  const DimVector inner = dims_range(first, input.dim()), outer = dims_range(0, first);
  const Tensor wide_grad = widened(grad);
  const Normalized normalized(widened(input), inner, mean.detach(), rstd.detach());
  const auto summed = [&](const Tensor& tensor) {
    return outer.empty() ? tensor : at::sum(tensor, IntArrayRef(outer));
  };
  Tensor grad_input, grad_weight, grad_bias;
  if (input.requires_grad())
    grad_input = normalized.gradient(weight.defined() ? wide_grad * weight : wide_grad, inner);
  if (weight.defined()) grad_weight = summed(wide_grad * normalized.values);
  if (bias.defined()) grad_bias = summed(wide_grad);
  return with_dtypes(grad_input, input, grad_weight, weight, grad_bias,
                     bias.defined() ? bias.scalar_type() : kFloat);
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  return std::get<0>(at::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

// -- batch norm
// ------------------------------------------------------------

namespace {

void check_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(
      input.dim() >= 2,
      "batch_norm: expected input of at least 2 dimensions (batch, channels, ...), got size ",
      input.sizes());
  check_channels("weight", weight, input.sizes()[1]);
  check_channels("bias", bias, input.sizes()[1]);
  check_parameter(input, weight);
  check_parameter(input, bias);
}

/// (channels) as (1, channels, 1, ...).
Tensor along_channels(const Tensor& tensor, int64_t dim) {
  DimVector sizes(dim, 1);
  sizes[1] = tensor.numel();
  return at::reshape(tensor, sizes);
}

DimVector all_but_channels(int64_t dim) {
  DimVector dims{0};
  for (int64_t d = 2; d < dim; ++d) dims.push_back(d);
  return dims;
}

/// running = (1 - momentum) * running + momentum * statistic of the batch; the variance is the
/// unbiased one.
void update_running(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                    const Tensor& variance, int64_t count, double momentum) {
  const NoGradGuard no_grad;
  at::lerp_(running_mean, mean.detach().to(running_mean.scalar_type()), Scalar(momentum));
  // One value has no unbiased variance: 0 / 0.
  const double correction = count == 1
                                ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(count) / static_cast<double>(count - 1);
  const Tensor unbiased = variance.detach() * Scalar(correction);
  at::lerp_(running_var, unbiased.to(running_var.scalar_type()), Scalar(momentum));
}

}  // namespace

void check_batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                               const Tensor& bias, const Tensor& mean, const Tensor& rstd) {
  check_batch_norm(input, weight, bias);
  check_gradient("batch_norm_backward", grad, input);
  check_statistic("batch_norm_backward", mean, input, input.sizes()[1]);
  check_statistic("batch_norm_backward", rstd, input, input.sizes()[1]);
}

TensorSpec batch_norm_apply_shape(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                  const Tensor& mean, const Tensor& invstd) {
  check_batch_norm(input, weight, bias);
  check_channels("mean", mean, input.sizes()[1]);
  check_channels("invstd", invstd, input.sizes()[1]);
  for (const Tensor& statistic : {mean, invstd}) {
    TORCH_CHECK(statistic.device() == input.device(), "batch_norm: statistics are on ",
                statistic.device(), ", the input is on ", input.device());
  }
  return spec_in_format_of(input, input.sizes(), input.sizes().size() - 2);
}

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec>
batch_norm_train_shape(const Tensor& input, const Tensor& weight, const Tensor& bias, double) {
  check_batch_norm(input, weight, bias);
  const TensorSpec per_channel{
      {input.sizes()[1]}, to_accumulate(input.scalar_type()), input.device()};
  return {spec_in_format_of(input, input.sizes(), input.sizes().size() - 2), per_channel,
          per_channel, per_channel};
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps, bool) {
  check_batch_norm(input, weight, bias);
  const int64_t channels = input.sizes()[1];
  TORCH_CHECK_VALUE(running_mean.defined() == running_var.defined(),
                    "running_mean and running_var must either both be None or neither be None");
  check_channels("running_mean", running_mean, channels);
  check_channels("running_var", running_var, channels);
  for (const Tensor& running : {running_mean, running_var}) {
    if (!running.defined()) continue;
    TORCH_CHECK(running.dim() == 1,
                "batch_norm: expected running statistics of 1 dimension, got size ",
                running.sizes());
    check_parameter(input, running);
    TORCH_CHECK(running.device() == input.device(), "batch_norm: running statistics are on ",
                running.device(), ", the input is on ", input.device());
  }
  if (!training) {
    TORCH_CHECK(running_mean.defined(), "running_mean must be defined in evaluation mode");
    return at::native_batch_norm(input, weight, bias, running_mean,
                                 at::rsqrt(running_var + Scalar(eps)));
  }
  const auto [output, mean, invstd, variance] = at::_batch_norm_train(input, weight, bias, eps);
  if (running_mean.defined() && input.numel() > 0) {
    update_running(running_mean, running_var, mean, variance, input.numel() / channels, momentum);
  }
  return output;
}

std::tuple<Tensor, Tensor, Tensor>
_batch_norm_apply_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                           bool has_bias, const Tensor& mean, const Tensor& invstd) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  const DimVector dims = all_but_channels(input.dim());
  const Tensor wide_grad = widened(grad), scale = along_channels(invstd, input.dim());
  Tensor grad_input, grad_weight, grad_bias;
  if (input.requires_grad())
    grad_input =
        wide_grad * (weight.defined() ? along_channels(weight, input.dim()) * scale : scale);
  if (weight.defined()) {
    const Tensor normalized = (widened(input) - along_channels(mean, input.dim())) * scale;
    grad_weight = at::sum(wide_grad * normalized, IntArrayRef(dims));
  }
  if (has_bias) grad_bias = at::sum(wide_grad, IntArrayRef(dims));
  return with_dtypes(grad_input, input, grad_weight, weight, grad_bias,
                     weight.defined() ? weight.scalar_type() : input.scalar_type());
}

std::tuple<Tensor, Tensor, Tensor>
_batch_norm_train_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                           const Tensor& bias, const Tensor& mean, const Tensor& invstd) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  const int64_t dim = input.dim();
  const DimVector dims = all_but_channels(dim);
  const Tensor wide_grad = widened(grad);
  const Normalized normalized(widened(input), dims, along_channels(mean.detach(), dim),
                              along_channels(invstd.detach(), dim));
  Tensor grad_input, grad_weight, grad_bias;
  if (input.requires_grad())
    grad_input = normalized.gradient(
        weight.defined() ? wide_grad * along_channels(weight, dim) : wide_grad, dims);
  if (weight.defined()) grad_weight = at::sum(wide_grad * normalized.values, IntArrayRef(dims));
  if (bias.defined()) grad_bias = at::sum(wide_grad, IntArrayRef(dims));
  return with_dtypes(grad_input, input, grad_weight, weight, grad_bias,
                     bias.defined() ? bias.scalar_type() : kFloat);
}

// -- group norm
// ------------------------------------------------------------

void check_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                      const Tensor& bias) {
  TORCH_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  TORCH_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  const int64_t channels = input.sizes()[1];
  TORCH_CHECK(
      channels % num_groups == 0,
      "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
      input.sizes(), " and num_groups=", num_groups);
  for (const auto& [name, parameter] :
       {std::pair<const char*, const Tensor&>{"weight", weight}, {"bias", bias}}) {
    TORCH_CHECK(!parameter.defined() || (parameter.dim() == 1 && parameter.numel() == channels),
                "Expected ", name,
                " to be a vector of size equal to the number of channels in input, but got ", name,
                " of shape ", parameter.defined() ? parameter.sizes() : IntArrayRef(),
                " and input of shape ", input.sizes());
    check_parameter(input, parameter);
  }
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  check_group_norm(input, num_groups, weight, bias);
  const int64_t batch = input.sizes()[0], channels = input.sizes()[1];
  int64_t group = channels / num_groups;
  for (int64_t d = 2; d < input.dim(); ++d) group *= input.sizes()[d];
  const Tensor rows = at::reshape(input, {batch, num_groups, group});
  Tensor result = at::reshape(
      std::get<0>(at::native_layer_norm(rows, IntArrayRef(group), Tensor(), Tensor(), eps)),
      input.sizes());
  if (weight.defined() && bias.defined()) {
    result =
        at::addcmul(along_channels(bias, input.dim()), result, along_channels(weight, input.dim()));
  } else if (weight.defined()) {
    result = result * along_channels(weight, input.dim());
  } else if (bias.defined()) {
    result = result + along_channels(bias, input.dim());
  }
  return result.to(input.scalar_type()).contiguous(input.suggest_memory_format());
}

}  // namespace at::native
