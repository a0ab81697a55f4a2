// Layer, group and root-mean-square normalization: checks, shapes, and gradients as compositions.
#include <algorithm>
#include <limits>
#include <string>

#include "aten/dispatch/Dtypes.h"
#include "aten/native/declarations/nn/LayerNorm.h"
#include "aten/native/nn/LayerNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/ops/_layer_norm.h"
#include "aten/ops/addcmul.h"
#include "aten/ops/mean.h"
#include "aten/ops/reshape.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/square.h"
#include "aten/ops/sum.h"
#include "aten/ops/var_mean.h"

namespace at::native {

namespace {

DimVector dims_range(int64_t begin, int64_t end) {
  DimVector dims;
  for (int64_t d = begin; d < end; ++d) dims.push_back(d);
  return dims;
}

void check_layer_norm(const Tensor& input, IntArrayRef normalized_shape) {
  const size_t n = normalized_shape.size();
  const size_t ndim = input.sizes().size();
  if (ndim >= n && input.sizes().slice(ndim - n) == normalized_shape) return;

  std::string expected = "[*";
  for (const int64_t size : normalized_shape) expected += ", " + std::to_string(size);
  TORCH_CHECK(false, "Given normalized_shape=", normalized_shape, ", expected input with shape ",
              expected, "], but got input of size", input.sizes());
}

/// Machine epsilon of a dtype, the default `eps` of rms_norm.
double precision_of(ScalarType type) {
  switch (type) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    default: return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

void check_layer_norm_backward(const Tensor& grad, const Tensor& input,
                               IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                               const Tensor& weight, const Tensor& bias) {
  check_layer_norm(input, normalized_shape);
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
  check_layer_norm(input, normalized_shape);
  check_parameter(input, weight);
  check_parameter(input, bias);

  DimVector statistics(input.sizes());
  for (size_t d = statistics.size() - normalized_shape.size(); d < statistics.size(); ++d)
    statistics[d] = 1;

  // An empty row has statistics, too.
  const bool has_rows = std::find(statistics.begin(), statistics.end(), 0) == statistics.end();
  if (has_rows && !is_floating(input.scalar_type()))
    throw_not_implemented("layer_norm", input.scalar_type());

  const TensorSpec per_row{statistics, to_accumulate(input.scalar_type()), input.device()};
  return {{DimVector(input.sizes()), input.scalar_type(), input.device()}, per_row, per_row};
}

std::tuple<Tensor, Tensor, Tensor> _layer_norm_backward(const Tensor& grad, const Tensor& input,
                                                        IntArrayRef normalized_shape,
                                                        const Tensor& mean, const Tensor& rstd,
                                                        const Tensor& weight, const Tensor& bias) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  const int64_t first = input.dim() - static_cast<int64_t>(normalized_shape.size());
  const DimVector inner = dims_range(first, input.dim());
  const DimVector outer = dims_range(0, first);

  const Tensor wide_grad = widened(grad);
  const Normalized normalized(widened(input), inner, mean.detach(), rstd.detach());

  const auto summed = [&](const Tensor& tensor) {
    return outer.empty() ? tensor : at::sum(tensor, IntArrayRef(outer));
  };

  Tensor grad_input, grad_weight, grad_bias;
  // Without gaps, as kernels make it.
  if (input.requires_grad()) {
    grad_input = normalized.gradient(weight.defined() ? wide_grad * weight : wide_grad, inner);
    grad_input = grad_input.contiguous();
  }
  if (weight.defined()) grad_weight = summed(wide_grad * normalized.values);
  if (bias.defined()) grad_bias = summed(wide_grad);

  return with_dtypes(grad_input, input, grad_weight, weight, grad_bias,
                     bias.defined() ? bias.scalar_type() : kFloat);
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input,
                                                     IntArrayRef normalized_shape,
                                                     const Tensor& weight, const Tensor& bias,
                                                     double eps) {
  const auto [result, mean, rstd] = at::_layer_norm(input, normalized_shape, weight, bias, eps);
  const ScalarType dtype = statistics_dtype(input, {weight, bias});
  return {result, mean.detach().to(dtype), rstd.detach().to(dtype)};
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  return std::get<0>(at::_layer_norm(input, normalized_shape, weight, bias, eps));
}

void check_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_parameter(input, weight);
  check_parameter(input, bias);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  check_group_norm(input, weight, bias);

  // Each group of each sample is one row of a layer norm without parameters.
  const int64_t batch = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  int64_t group = channels / num_groups;
  for (int64_t d = 2; d < input.dim(); ++d) group *= input.sizes()[d];
  const Tensor rows = at::reshape(input, {batch, num_groups, group});
  Tensor result =
      at::reshape(std::get<0>(at::_layer_norm(rows, IntArrayRef(group), Tensor(), Tensor(), eps)),
                  input.sizes());

  // Weight and bias are per channel.
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

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, int64_t N, int64_t C,
                                                     int64_t HxW, int64_t group, double eps) {
  check_group_norm(input, weight, bias);
  int64_t elements = 0;
  const bool fits = N >= 0 && C >= 0 && HxW >= 0 && input.dim() >= 2 &&
                    !__builtin_mul_overflow(N, C, &elements) &&
                    !__builtin_mul_overflow(elements, HxW, &elements) && elements == input.numel();
  TORCH_CHECK(fits, "native_group_norm: expected N * C * HxW elements, got N=", N, ", C=", C,
              ", HxW=", HxW, " for an input of size ", input.sizes());

  // Statistics of each group, whose gradients follow from these operators.
  const Tensor rows = at::reshape(widened(input), {N, group, C / group * HxW});
  const auto [variance, mean] = at::var_mean(rows, IntArrayRef(2), Scalar(0), true);
  const Tensor rstd = at::rsqrt(variance + Scalar(eps));
  Tensor result = at::reshape((rows - mean) * rstd, {N, C, HxW});

  if (weight.defined()) result = result * along_channels(weight, 3);
  if (bias.defined()) result = result + along_channels(bias, 3);

  const ScalarType dtype = statistics_dtype(input, {weight, bias});
  return {at::reshape(result, input.sizes()).to(input.scalar_type()),
          at::reshape(mean, {N, group}).to(dtype), at::reshape(rstd, {N, group}).to(dtype)};
}

void check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight) {
  const auto count = static_cast<int64_t>(normalized_shape.size());
  const IntArrayRef sizes = input.sizes();
  bool fits = true;
  for (int64_t d = 0; fits && d < count; ++d)
    fits = sizes[static_cast<size_t>(input.dim() - count + d)] ==
           normalized_shape[static_cast<size_t>(d)];
  TORCH_CHECK(fits, "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ",
              normalized_shape, "], but got input of size ", sizes);
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  check_rms_norm(input, normalized_shape, weight);
  const auto count = static_cast<int64_t>(normalized_shape.size());

  // x / sqrt(mean(x ** 2) + eps)
  DimVector dims;
  for (int64_t d = -count; d < 0; ++d) dims.push_back(d);

  const ScalarType wide = to_accumulate(input.scalar_type());
  const Tensor x = input.to(wide);
  const Tensor power =
      at::mean(at::square(x), IntArrayRef(dims), true) + Scalar(eps.value_or(precision_of(wide)));
  Tensor result = x * at::rsqrt(power);

  if (weight.defined()) result = result * weight;
  return result.to(input.scalar_type()).contiguous();
}

}  // namespace at::native
