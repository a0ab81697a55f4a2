// Layers that are compositions of other operators.
#include "aten/native/declarations/Layers.h"

#include <cmath>
#include <limits>

#include "aten/native/Normalization.h"
#include "aten/ops/all.h"
#include "aten/ops/batch_norm.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/div.h"
#include "aten/ops/dropout.h"
#include "aten/ops/empty.h"
#include "aten/ops/eq.h"
#include "aten/ops/full.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mean.h"
#include "aten/ops/mul.h"
#include "aten/ops/repeat.h"
#include "aten/ops/repeat_interleave.h"
#include "aten/ops/rsqrt.h"
#include "aten/ops/softmax.h"
#include "aten/ops/square.h"
#include "aten/ops/sum.h"
#include "aten/ops/triu.h"
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
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
              "normalized_shape = ",
              normalized_shape);
  TORCH_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but got "
              "weight of shape ",
              weight.defined() ? weight.sizes() : IntArrayRef(), " and normalized_shape = ", normalized_shape);
  TORCH_CHECK_VALUE(input.dim() >= count, "rms_norm: Input tensor must have at least ", count, " dimensions, but got ", input.dim());
  const IntArrayRef sizes = input.sizes();
  bool fits = true;
  for (int64_t d = 0; fits && d < count; ++d)
    fits = sizes[static_cast<size_t>(input.dim() - count + d)] == normalized_shape[static_cast<size_t>(d)];
  TORCH_CHECK(fits, "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ", normalized_shape,
              "], but got input of size ", sizes);
  TORCH_CHECK_NOT_IMPLEMENTED(input.is_floating_point() || input.is_complex(), "rms_norm: not implemented for '", input.scalar_type(), "'");
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  check_rms_norm(input, normalized_shape, weight);
  const auto count = static_cast<int64_t>(normalized_shape.size());
  DimVector dims;
  for (int64_t d = -count; d < 0; ++d) dims.push_back(d);
  const ScalarType wide = to_accumulate(input.scalar_type());
  const Tensor x = input.to(wide);
  const Tensor power = at::mean(at::square(x), IntArrayRef(dims), true) + Scalar(eps.value_or(precision_of(wide)));
  Tensor result = x * at::rsqrt(power);
  if (weight.defined()) result = result * weight;
  return result.to(input.scalar_type()).contiguous();
}

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                     bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  TORCH_CHECK(input.dim() >= 2, "instance_norm: expected an input of at least 2 dimensions, got size ", input.sizes());
  TORCH_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t batch = input.sizes()[0], channels = input.sizes()[1];
  if (!use_input_stats) return at::batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps, cudnn_enabled);
  // Every channel of every example is a channel of one example.
  DimVector sizes(input.sizes());
  sizes[0] = 1, sizes[1] = batch * channels;
  const auto repeated = [&](const Tensor& parameter) { return parameter.defined() ? at::repeat(parameter, {batch}) : parameter; };
  const Tensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor result =
      at::batch_norm(input.reshape(sizes), repeated(weight), repeated(bias), mean, var, true, momentum, eps, cudnn_enabled);
  const auto averaged = [&](const Tensor& running, const Tensor& all) {
    if (running.defined() && batch > 0) running.copy_(at::mean(all.detach().view({batch, channels}), IntArrayRef(0)));
  };
  averaged(running_mean, mean);
  averaged(running_var, var);
  return result.reshape(input.sizes());
}

namespace {

/// Scores with a mask added, or with -inf where a boolean one is False.
Tensor masked_scores(const Tensor& scores, const Tensor& mask) {
  if (mask.scalar_type() != kBool) return scores + mask;
  return at::masked_fill(scores, at::logical_not(mask), Scalar(-std::numeric_limits<double>::infinity()));
}

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool is_causal, double dropout) {
  TORCH_CHECK(query.scalar_type() == key.scalar_type() && query.scalar_type() == value.scalar_type(),
              "Expected query, key, and value to have the same dtype, but got query.dtype: ", query.scalar_type(),
              " key.dtype: ", key.scalar_type(), " and value.dtype: ", value.scalar_type(), " instead.");
  TORCH_CHECK(query.device() == key.device() && query.device() == value.device(),
              "Expected query, key, and value to have the same device type, but got query.device: ", query.device(),
              " key.device: ", key.device(), " and value.device: ", value.device(), " instead.");
  TORCH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: ", query.dim(), " key.dim: ", key.dim(),
              " and value.dim: ", value.dim(), " instead.");
  TORCH_CHECK(dropout >= 0 && dropout <= 1, "dropout probability has to be between 0 and 1, but got ", dropout);
  if (!mask.defined()) return;
  TORCH_CHECK(!is_causal, "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  TORCH_CHECK(mask.scalar_type() == kBool || mask.scalar_type() == query.scalar_type() || mask.scalar_type() == kFloat,
              "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ", mask.scalar_type(),
              " and  query.dtype: ", query.scalar_type(), " instead.");
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& given_key, const Tensor& given_value, const Tensor& attn_mask,
                                    double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  check_attention(query, given_key, given_value, attn_mask, is_causal, dropout_p);
  Tensor key = given_key, value = given_value;
  if (enable_gqa) {
    TORCH_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, "enable_gqa: expected a dimension of heads, got sizes ",
                query.sizes(), ", ", key.sizes(), " and ", value.sizes());
    const int64_t heads = query.size(-3), key_heads = key.size(-3), value_heads = value.size(-3);
    TORCH_CHECK(key_heads > 0 && value_heads > 0 && heads % key_heads == 0 && heads % value_heads == 0,
                "Number of heads in key and value must divide the number of heads in query, got ", heads, ", ", key_heads, " and ",
                value_heads);
    if (heads != key_heads) key = at::repeat_interleave(key, heads / key_heads, key.dim() - 3);
    if (heads != value_heads) value = at::repeat_interleave(value, heads / value_heads, value.dim() - 3);
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor scores = at::matmul(query * Scalar(factor), key.transpose(-2, -1));
  const Tensor& mask = attn_mask;
  if (is_causal && key.size(-2) > 0) {
    // Every row has its first key; -inf is added, which has no gradient that costs anything.
    const Tensor later =
        at::full({query.size(-2), key.size(-2)}, Scalar(-std::numeric_limits<double>::infinity()), query.scalar_type(), {}, query.device());
    scores = scores + at::triu(later, 1);
  }
  if (mask.defined()) scores = masked_scores(scores, mask);
  Tensor nothing;  // rows of which nothing takes part: zeros, and no gradient
  if (mask.defined()) {
    nothing = at::all(at::eq(scores, Scalar(-std::numeric_limits<double>::infinity())), IntArrayRef{-1}, true);
    scores = at::masked_fill(scores, nothing, Scalar(0));
  }
  Tensor weights = at::softmax(scores, -1);
  if (mask.defined()) weights = at::masked_fill(weights, nothing, Scalar(0));
  weights = weights.to(value.scalar_type());
  return at::matmul(dropout_p > 0 ? at::dropout(weights, dropout_p, true) : weights, value);
}

// -- dropout -----------------------------------------------------------------------------------------------------

namespace {

/// Ones with probability 1 - p, of the size of the input or of its channels.
Tensor kept(const Tensor& input, double p, bool by_channel) {
  TORCH_CHECK(input.is_floating_point() || input.is_complex(), "dropout: expected a floating point input, got ", input.scalar_type());
  DimVector sizes(input.sizes());
  if (by_channel) {
    TORCH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input, got size ", input.sizes());
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

Tensor alpha_dropout(const Tensor& input, double p, bool train) { return alpha_dropout_of(input, p, train, false); }

Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) { return alpha_dropout_of(input, p, train, true); }

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  return input * at::div(kept(input, p, true), Scalar(1 - p));
}

}  // namespace at::native
