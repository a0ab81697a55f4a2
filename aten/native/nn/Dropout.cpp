// Layers that are compositions of other operators.
#include "aten/native/declarations/nn/Dropout.h"

#include <cmath>
#include <limits>

#include "aten/native/shared/Normalization.h"
#include "aten/ops/batch_norm.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/div.h"
#include "aten/ops/dropout.h"
#include "aten/ops/empty.h"
#include "aten/ops/mean.h"
#include "aten/ops/mul.h"
#include "aten/ops/repeat.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/square.h"
#include "aten/ops/sum.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

double precision_of(ScalarType type) {
  switch (type) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    default: return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

void check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight) {
  const auto count = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(count > 0,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
              "one element, but got "
              "normalized_shape = ",
              normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but got "
              "weight of shape ",
              weight.defined() ? weight.sizes() : IntArrayRef(),
              " and normalized_shape = ", normalized_shape);
  TORCH_CHECK_VALUE(input.dim() >= count, "rms_norm: Input tensor must have at least ", count,
                    " dimensions, but got ", input.dim());
  const IntArrayRef sizes = input.sizes();
  bool fits = true;
  for (int64_t d = 0; fits && d < count; ++d)
    fits = sizes[static_cast<size_t>(input.dim() - count + d)] ==
           normalized_shape[static_cast<size_t>(d)];
  TORCH_CHECK(fits, "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ",
              normalized_shape, "], but got input of size ", sizes);
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point() || input.is_complex(),
                              "rms_norm: not implemented for '", input.scalar_type(), "'");
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  check_rms_norm(input, normalized_shape, weight);
  const auto count = static_cast<int64_t>(normalized_shape.size());
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

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled) {
  TORCH_CHECK(input.dim() >= 2,
              "instance_norm: expected an input of at least 2 dimensions, got size ",
              input.sizes());
  TORCH_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t batch = input.sizes()[0], channels = input.sizes()[1];
  if (!use_input_stats)
    return at::batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps,
                          cudnn_enabled);
  // Every channel of every example is a channel of one example.
  DimVector sizes(input.sizes());
  sizes[0] = 1, sizes[1] = batch * channels;
  const auto repeated = [&](const Tensor& parameter) {
    return parameter.defined() ? at::repeat(parameter, {batch}) : parameter;
  };
  const Tensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor result = at::batch_norm(input.reshape(sizes), repeated(weight), repeated(bias), mean,
                                       var, true, momentum, eps, cudnn_enabled);
  const auto averaged = [&](const Tensor& running, const Tensor& all) {
    if (running.defined() && batch > 0)
      running.copy_(at::mean(all.detach().view({batch, channels}), IntArrayRef(0)));
  };
  averaged(running_mean, mean);
  averaged(running_var, var);
  return result.reshape(input.sizes());
}

// -- dropout
// ------------------------------------------------------------

namespace {

/// Ones with probability 1 - p, of the size of the input or of its channels.
Tensor kept(const Tensor& input, double p, bool by_channel) {
  TORCH_CHECK(input.is_floating_point() || input.is_complex(),
              "dropout: expected a floating point input, got ", input.scalar_type());
  DimVector sizes(input.sizes());
  if (by_channel) {
    TORCH_CHECK(input.dim() >= 2,
                "Feature dropout requires at least 2 dimensions in the input, got size ",
                input.sizes());
    for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
  }
  const Tensor result = at::empty(sizes, input.scalar_type(), {}, input.device());
  at::bernoulli_(result, 1 - p);
  return result;
}

Tensor alpha_dropout_of(const Tensor& input, double p, bool train, bool by_channel) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  constexpr double kAlpha = 1.7580993408473766;  // minus the value that selu approaches
  const Tensor noise = kept(input, p, by_channel);
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor offset = (noise - Scalar(1)) * Scalar(kAlpha * a) + Scalar(kAlpha * a * p);
  return input * (noise * Scalar(a)) + offset;
}

}  // namespace

Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return alpha_dropout_of(input, p, train, false);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  return alpha_dropout_of(input, p, train, true);
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  return input * at::div(kept(input, p, true), Scalar(1 - p));
}

}  // namespace at::native
