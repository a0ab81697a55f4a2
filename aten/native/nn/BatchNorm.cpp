// Batch and instance normalization: shapes, running statistics, and gradients as compositions of
// differentiable operators.
#include <limits>

#include "aten/native/declarations/nn/BatchNorm.h"
#include "aten/native/nn/BatchNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/_batch_norm_apply.h"
#include "aten/ops/_batch_norm_train.h"
#include "aten/ops/add.h"
#include "aten/ops/batch_norm.h"
#include "aten/ops/clone.h"
#include "aten/ops/empty.h"
#include "aten/ops/lerp.h"
#include "aten/ops/mean.h"
#include "aten/ops/mul.h"
#include "aten/ops/native_batch_norm.h"
#include "aten/ops/repeat.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/sum.h"
#include "aten/ops/var_mean.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

namespace {

void check_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_parameter(input, weight);
  check_parameter(input, bias);
}

void check_running(const Tensor& input, const Tensor& running_mean, const Tensor& running_var) {
  for (const Tensor& running : {running_mean, running_var}) {
    if (!running.defined()) continue;
    check_parameter(input, running);
  }
}

/// running = (1 - momentum) * running + momentum * (statistic of the batch), with the unbiased
/// variance of the batch.
void update_running(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean,
                    const Tensor& variance, int64_t count, double momentum) {
  const NoGradGuard no_grad;

  // Not lerp_, whose difference of the two is NaN for an infinite running statistic.
  const auto mix = [momentum](const Tensor& running, const Tensor& statistic) {
    at::mul_(running, Scalar(1.0 - momentum));
    at::add_(running, statistic.to(running.scalar_type()), Scalar(momentum));
  };
  mix(running_mean, mean.detach());

  // The unbiased variance of one value is 0 / 0.
  const double correction = count == 1
                                ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(count) / static_cast<double>(count - 1);

  mix(running_var, variance.detach() * Scalar(correction));
}

/// The normalized batch, and the mean and 1 / sqrt(var + eps) of its channels.
std::tuple<Tensor, Tensor, Tensor> train(const Tensor& input, const Tensor& weight,
                                         const Tensor& bias, const Tensor& running_mean,
                                         const Tensor& running_var, double momentum, double eps) {
  const auto [output, mean, invstd, variance] = at::_batch_norm_train(input, weight, bias, eps);
  if (running_mean.defined() && input.numel() > 0) {
    const int64_t count = input.numel() / input.sizes()[1];
    update_running(running_mean, running_var, mean, variance, count, momentum);
  }
  return {output, mean, invstd};
}

DimVector all_but_channels(int64_t dim) {
  DimVector dims{0};
  for (int64_t d = 2; d < dim; ++d) dims.push_back(d);
  return dims;
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
  if (input.dim() == 1) {  // empty, as its requirements say: PyTorch has no channels to look at
    const Tensor scaled = weight.defined() ? at::mul(input, at::sum(weight)) : at::clone(input);
    return bias.defined() ? at::add(scaled, at::sum(bias)) : scaled;
  }

  check_batch_norm(input, weight, bias);
  check_running(input, running_mean, running_var);

  if (!training) {
    return at::_batch_norm_apply(input, weight, bias, running_mean,
                                 at::rsqrt(running_var + Scalar(eps)));
  }

  return std::get<0>(train(input, weight, bias, running_mean, running_var, momentum, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight,
                                                     const Tensor& bias, const Tensor& running_mean,
                                                     const Tensor& running_var, bool training,
                                                     double momentum, double eps) {
  const ScalarType dtype = statistics_dtype(input, {weight, bias, running_mean, running_var});
  if (!training) {
    const Tensor output =
        at::batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps, false);
    const Tensor none = at::empty({0}, dtype, {}, input.device());
    return {output, none, at::clone(none)};
  }

  TORCH_CHECK(input.numel() > 0,
              "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  check_batch_norm(input, weight, bias);
  check_running(input, running_mean, running_var);
  const auto [output, mean, invstd] =
      train(input, weight, bias, running_mean, running_var, momentum, eps);
  return {output, mean.detach().to(dtype), invstd.detach().to(dtype)};
}

std::tuple<Tensor, Tensor, Tensor>
_native_batch_norm_legit(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, bool training,
                         double momentum, double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum,
                               eps);
}

std::tuple<Tensor, Tensor, Tensor>
_native_batch_norm_legit_no_stats(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                  bool training, double momentum, double eps) {
  return at::native_batch_norm(input, weight, bias, Tensor(), Tensor(), training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor>
_native_batch_norm_legit_no_training(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                     const Tensor& running_mean, const Tensor& running_var,
                                     double momentum, double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum,
                               eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
_batch_norm_with_update(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const Tensor& running_mean, const Tensor& running_var, double momentum,
                        double eps) {
  const auto [output, mean, invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {output, mean, invstd, at::empty({0}, kByte, {}, input.device())};
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
_batch_norm_no_update(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const Tensor& running_mean, const Tensor& running_var, double momentum,
                      double eps) {
  const auto [output, mean, invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
  return {output, mean, invstd, at::empty({0}, kByte, {}, input.device())};
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input, const Tensor& running_mean,
                                                   const Tensor& running_var, double momentum) {
  check_running(input, running_mean, running_var);
  const DimVector dims = all_but_channels(input.dim());
  const auto [variance, mean] =
      at::var_mean(widened(input), OptionalIntArrayRef(IntArrayRef(dims)), Scalar(0), false);

  if (running_mean.defined() && running_var.defined()) {
    const int64_t count = input.numel() / input.sizes()[1];
    update_running(running_mean, running_var, mean, variance, count, momentum);
  }
  const ScalarType dtype = statistics_dtype(input, {running_mean, running_var});
  return {mean.to(dtype), variance.to(dtype)};
}

std::tuple<Tensor, Tensor, Tensor>
_batch_norm_apply_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                           bool has_bias, const Tensor& mean, const Tensor& invstd) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient

  const int64_t dim = input.dim();
  const DimVector dims = all_but_channels(dim);
  const Tensor wide_grad = widened(grad);
  const Tensor scale = along_channels(invstd, dim);
  Tensor grad_input, grad_weight, grad_bias;

  if (input.requires_grad())
    grad_input = wide_grad * (weight.defined() ? along_channels(weight, dim) * scale : scale);
  if (weight.defined()) {
    const Tensor normalized = (widened(input) - along_channels(mean, dim)) * scale;
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

  // In the memory format of the input, as kernels make it.
  if (input.requires_grad()) {
    grad_input = normalized.gradient(
        weight.defined() ? wide_grad * along_channels(weight, dim) : wide_grad, dims);
    grad_input = grad_input.contiguous(input.suggest_memory_format());
  }
  if (weight.defined()) grad_weight = at::sum(wide_grad * normalized.values, IntArrayRef(dims));
  if (bias.defined()) grad_bias = at::sum(wide_grad, IntArrayRef(dims));

  return with_dtypes(grad_input, input, grad_weight, weight, grad_bias,
                     bias.defined() ? bias.scalar_type() : kFloat);
}

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled) {
  if (!use_input_stats)
    return at::batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps,
                          cudnn_enabled);

  // Batch normalization of one example, in which every channel of every example is a channel.
  const int64_t batch = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  DimVector sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = batch * channels;
  const auto repeated = [&](const Tensor& parameter) {
    return parameter.defined() ? at::repeat(parameter, {batch}) : parameter;
  };
  const Tensor mean = repeated(running_mean);
  const Tensor var = repeated(running_var);
  const Tensor result = at::batch_norm(input.reshape(sizes), repeated(weight), repeated(bias), mean,
                                       var, true, momentum, eps, cudnn_enabled);

  // The running statistics are means over the examples.
  const auto store_mean = [&](const Tensor& running, const Tensor& all) {
    if (running.defined() && batch > 0)
      running.copy_(at::mean(all.detach().view({batch, channels}), IntArrayRef(0)));
  };
  store_mean(running_mean, mean);
  store_mean(running_var, var);

  return result.reshape(input.sizes());
}

}  // namespace at::native
