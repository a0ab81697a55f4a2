// Batch normalization and its gradient, see Note [Channel loops]. Statistics take two passes, the
// mean and then squared distances, in float or double.
#include <cmath>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/cpu/nn/ChannelLoops.h"
#include "aten/native/declarations/cpu/nn/BatchNormKernel.isa.h"
#include "aten/native/nn/BatchNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The values of a parameter in the arithmetic type, or `missing` for every channel.
template <typename acc_t>
std::vector<acc_t> parameter_values(const Tensor& parameter, int64_t channels, acc_t missing) {
  if (!parameter.defined()) return std::vector<acc_t>(channels, missing);

  const Tensor values = parameter.to(scalar_type_of<acc_t>).contiguous();
  const acc_t* data = values.const_data_ptr<acc_t>();
  return std::vector<acc_t>(data, data + channels);
}

/// out = (input - mean) * scale + shift
template <typename scalar_t, typename acc_t>
void apply(const ChannelShape& shape, const scalar_t* in, const acc_t* mean, const acc_t* scale,
           const acc_t* shift, scalar_t* out) {
  map_channels<acc_t, 3>(shape, {mean, scale, shift},
                         [in, out](int64_t i, acc_t m, acc_t s, acc_t b) {
                           out[i] = static_cast<scalar_t>((static_cast<acc_t>(in[i]) - m) * s + b);
                         });
}

/// The products a[i] * b[i].
template <typename acc_t>
std::vector<acc_t> products(const acc_t* a, const std::vector<acc_t>& b) {
  std::vector<acc_t> result(b.size());
  for (size_t i = 0; i < b.size(); ++i) result[i] = a[i] * b[i];
  return result;
}

}  // namespace

void batch_norm_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& mean, const Tensor& invstd, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor x = input.contiguous(input.suggest_memory_format());
  const ChannelShape shape(x);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "batch_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const auto means = parameter_values<acc_t>(mean, shape.channels, 0);
    const auto factors = parameter_values<acc_t>(weight, shape.channels, 1);
    const auto scales =
        products(parameter_values<acc_t>(invstd, shape.channels, 1).data(), factors);
    const auto shifts = parameter_values<acc_t>(bias, shape.channels, 0);
    apply(shape, x.const_data_ptr<scalar_t>(), means.data(), scales.data(), shifts.data(),
          out0.data_ptr<scalar_t>());
  });
}

void batch_norm_train_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             double eps, const Tensor& out0, const Tensor& out1, const Tensor& out2,
                             const Tensor& out3) {
  const Tensor x = input.contiguous(input.suggest_memory_format());
  const ChannelShape shape(x);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "batch_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* in = x.const_data_ptr<scalar_t>();
    acc_t* mean = out1.data_ptr<acc_t>();
    acc_t* invstd = out2.data_ptr<acc_t>();
    acc_t* variance = out3.data_ptr<acc_t>();
    const acc_t count = static_cast<acc_t>(shape.count());

    // The sums are kept in invstd until the means are known.
    std::fill_n(mean, shape.channels, acc_t(0));
    sum_channels(shape, mean, invstd, [in](int64_t i, acc_t) { return static_cast<acc_t>(in[i]); });
    for (int64_t c = 0; c < shape.channels; ++c) mean[c] = invstd[c] / count;

    sum_channels(shape, mean, variance, [in](int64_t i, acc_t m) {
      const acc_t distance = static_cast<acc_t>(in[i]) - m;
      return distance * distance;
    });
    for (int64_t c = 0; c < shape.channels; ++c) {
      variance[c] /= count;
      invstd[c] = acc_t(1) / std::sqrt(variance[c] + static_cast<acc_t>(eps));
    }

    const auto scales = products(invstd, parameter_values<acc_t>(weight, shape.channels, 1));
    const auto shifts = parameter_values<acc_t>(bias, shape.channels, 0);
    apply(shape, in, mean, scales.data(), shifts.data(), out0.data_ptr<scalar_t>());
  });
}

// With g = grad and d = input - mean, the gradient of the input is
//   weight * rstd * (g - mean(g) - d * rstd^2 * mean(g * d)),
// where mean and rstd depend on the input, too.
std::tuple<Tensor, Tensor, Tensor>
batch_norm_backward_kernel(const Tensor& grad, const Tensor& input, const Tensor& weight,
                           const Tensor& bias, const Tensor& mean, const Tensor& rstd) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  check_batch_norm_backward(grad, input, weight, bias, mean, rstd);

  const TensorSpec spec = spec_in_format_of(input, input.sizes(), input.sizes().size() - 2);
  const FusedGradients gradients(input, spec, weight, bias, mean.sizes());

  const MemoryFormat format = input.suggest_memory_format();
  const Tensor x = input.contiguous(format);
  const Tensor dense_grad = grad.contiguous(format);
  const ChannelShape shape(x);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "batch_norm_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* in = x.const_data_ptr<scalar_t>();
    const scalar_t* g = dense_grad.const_data_ptr<scalar_t>();
    const auto means = parameter_values<acc_t>(mean, shape.channels, 0);
    const auto rstds = parameter_values<acc_t>(rstd, shape.channels, 1);

    // The sums of g and of g * d per channel.
    std::vector<acc_t> sums(shape.channels);
    std::vector<acc_t> products_sum(shape.channels);
    sum_channels(shape, means.data(), sums.data(),
                 [g](int64_t i, acc_t) { return static_cast<acc_t>(g[i]); });
    sum_channels(shape, means.data(), products_sum.data(), [g, in](int64_t i, acc_t m) {
      return static_cast<acc_t>(g[i]) * (static_cast<acc_t>(in[i]) - m);
    });

    for (int64_t c = 0; c < shape.channels; ++c) {
      if (gradients.bias.defined()) gradients.bias.data_ptr<acc_t>()[c] = sums[c];
      // An empty batch has nan for statistics, but its gradient is 0.
      if (gradients.weight.defined())
        gradients.weight.data_ptr<acc_t>()[c] =
            shape.count() == 0 ? acc_t(0) : products_sum[c] * rstds[c];
    }
    if (!gradients.input.defined() || gradients.input.numel() == 0) return;

    const acc_t count = static_cast<acc_t>(shape.count());
    for (int64_t c = 0; c < shape.channels; ++c) {
      sums[c] /= count;
      products_sum[c] *= rstds[c] * rstds[c] / count;
    }
    const auto scales = products(rstds.data(), parameter_values<acc_t>(weight, shape.channels, 1));
    scalar_t* out = gradients.input.data_ptr<scalar_t>();
    map_channels<acc_t, 4>(shape, {means.data(), sums.data(), products_sum.data(), scales.data()},
                           [g, in, out](int64_t i, acc_t m, acc_t a, acc_t b, acc_t s) {
                             const acc_t distance = static_cast<acc_t>(in[i]) - m;
                             out[i] = static_cast<scalar_t>(
                                 (static_cast<acc_t>(g[i]) - a - distance * b) * s);
                           });
  });

  return gradients.in_dtypes_of(weight, bias);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
