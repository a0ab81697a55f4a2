// Dropout and alpha dropout, of elements and of whole channels.
#include <cmath>

#include "aten/native/declarations/nn/Dropout.h"
#include "aten/native/shared/Normalization.h"
#include "aten/ops/_scale_kept.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/clone.h"
#include "aten/ops/div.h"
#include "aten/ops/empty.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

/// Ones with probability 1 - p, zeros otherwise: one for each element or for each channel.
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

/// Dropped elements become -alpha, the limit of selu. Then a scale and an offset restore mean 0 and
/// variance 1 (Klambauer et al. 2017).
Tensor alpha_dropout_of(const Tensor& input, double p, bool train, bool by_channel) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);

  constexpr double kAlpha = 1.7580993408473766;
  const Tensor noise = kept(input, p, by_channel);
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor offset = (noise - Scalar(1)) * Scalar(kAlpha * a) + Scalar(kAlpha * a * p);
  return input * (noise * Scalar(a)) + offset;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  TORCH_CHECK(input.is_floating_point() || input.is_complex(),
              "dropout: result type Float can't be cast to the desired output type ",
              input.scalar_type());

  // The quotient is formed here: div_ would round `kept` to float16 first.
  const double kept = 1 - p;
  const double scale = to_real(input.scalar_type()) == kDouble
                           ? 1 / kept
                           : static_cast<double>(1 / static_cast<float>(kept));

  const Tensor mask = at::empty_like(input, kBool);
  at::bernoulli_(mask, kept);
  return at::_scale_kept(input, mask, scale);
}

TensorSpec scale_kept_shape(const Tensor& self, const Tensor& /*kept*/, double /*scale*/) {
  return {DimVector(self.sizes()), self.scalar_type(), self.device(), strides_in_order_of(self)};
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input)};
  if (!train.value_or(true)) return {at::clone(input), at::ones_like(input, kBool)};

  TORCH_CHECK(input.is_floating_point() || input.is_complex(),
              "result type Float can't be cast to the desired output type ", input.scalar_type());
  const double kept = 1 - p;
  const Tensor mask = at::empty_like(input, kBool);
  at::bernoulli_(mask, kept);
  return {input * mask * Scalar(kept == 0 ? 0.0 : 1 / kept), mask};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * mask * Scalar(scale);
}

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
