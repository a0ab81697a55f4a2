#pragma once
// The steps of fused optimizers for one element, in the type that they are computed in.
#include <cmath>

#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// The gradient that the formulas use: with `sign` -1 when maximizing, and with the derivative of
/// weight_decay / 2 * p ** 2.
template <bool decays, typename acc_t>
C10_ALWAYS_INLINE acc_t direction(acc_t gradient, acc_t parameter, acc_t sign, acc_t weight_decay) {
  gradient *= sign;
  if constexpr (decays) gradient += weight_decay * parameter;
  return gradient;
}

/// The options of a step of SGD.
struct Descent {
  double lr, weight_decay, momentum, dampening, sign;
};

/// v = momentum v + (1 - dampening) g; p = p - lr v, or p - lr (g + momentum v) for Nesterov.
template <typename acc_t>
struct MomentumStep {
  acc_t lr, decay, momentum, share, sign;

  C10_ALWAYS_INLINE explicit MomentumStep(const Descent& options)
      : lr(static_cast<acc_t>(options.lr)),
        decay(static_cast<acc_t>(options.weight_decay)),
        momentum(static_cast<acc_t>(options.momentum)),
        share(static_cast<acc_t>(1 - options.dampening)),
        sign(static_cast<acc_t>(options.sign)) {}

  template <bool decays, bool nesterov>
  C10_ALWAYS_INLINE void apply(acc_t& parameter, acc_t grad, acc_t& buffer) const {
    const acc_t gradient = direction<decays>(grad, parameter, sign, decay);
    buffer = momentum * buffer + share * gradient;
    parameter -= lr * (nesterov ? gradient + momentum * buffer : buffer);
  }
};

/// A step of SGD without momentum, or the first one with momentum, whose buffer is the gradient.
template <typename acc_t>
struct FirstStep {
  acc_t lr, decay, sign;

  C10_ALWAYS_INLINE FirstStep(const Descent& options, bool nesterov)
      : lr(static_cast<acc_t>(nesterov ? options.lr * (1 + options.momentum) : options.lr)),
        decay(static_cast<acc_t>(options.weight_decay)),
        sign(static_cast<acc_t>(options.sign)) {}

  template <bool decays>
  C10_ALWAYS_INLINE void apply(acc_t& parameter, acc_t grad, acc_t& buffer) const {
    buffer = direction<decays>(grad, parameter, sign, decay);
    parameter -= lr * buffer;
  }
};

/// The options of a step of Adam, or of AdamW with `decoupled` weight decay.
struct AdamOptions {
  double beta1, beta2, weight_decay, eps, sign;
  bool decoupled;
};

/// Adam (Kingma and Ba, 2015): m and v are running means of gradient and squared gradient, whose
/// bias towards 0 is corrected by `step_size` and `correction`. amsgrad uses the largest v so far.
template <typename acc_t>
struct AdamStep {
  acc_t beta1, beta2, rest1, rest2, eps, shrink, decay, sign, step_size, correction;

  /// `step` counts from 1.
  C10_ALWAYS_INLINE AdamStep(const AdamOptions& options, double lr, double step)
      : beta1(static_cast<acc_t>(options.beta1)),
        beta2(static_cast<acc_t>(options.beta2)),
        rest1(static_cast<acc_t>(1 - options.beta1)),
        rest2(static_cast<acc_t>(1 - options.beta2)),
        eps(static_cast<acc_t>(options.eps)),
        shrink(static_cast<acc_t>(options.decoupled ? 1 - lr * options.weight_decay : 1.0)),
        decay(static_cast<acc_t>(options.weight_decay)),
        sign(static_cast<acc_t>(options.sign)),
        step_size(static_cast<acc_t>(lr / (1 - ::pow(options.beta1, step)))),
        correction(static_cast<acc_t>(::sqrt(1 - ::pow(options.beta2, step)))) {}

  /// Factors are computed in double and then rounded.
  template <typename other_t>
  C10_ALWAYS_INLINE explicit AdamStep(const AdamStep<other_t>& other)
      : beta1(static_cast<acc_t>(other.beta1)),
        beta2(static_cast<acc_t>(other.beta2)),
        rest1(static_cast<acc_t>(other.rest1)),
        rest2(static_cast<acc_t>(other.rest2)),
        eps(static_cast<acc_t>(other.eps)),
        shrink(static_cast<acc_t>(other.shrink)),
        decay(static_cast<acc_t>(other.decay)),
        sign(static_cast<acc_t>(other.sign)),
        step_size(static_cast<acc_t>(other.step_size)),
        correction(static_cast<acc_t>(other.correction)) {}

  template <bool amsgrad, bool decays>
  C10_ALWAYS_INLINE void apply(acc_t& parameter, acc_t grad, acc_t& mean, acc_t& square,
                               acc_t& largest) const {
    const acc_t gradient = direction<decays>(grad, parameter, sign, decay);
    mean = beta1 * mean + rest1 * gradient;
    square = beta2 * square + rest2 * gradient * gradient;

    acc_t used = square;
    if constexpr (amsgrad) {
      largest = largest > square ? largest : square;
      used = largest;
    }
    parameter = parameter * shrink - step_size * mean / (vec::sqrt(used) / correction + eps);
  }
};

/// Adagrad: p = p - lr g / (sqrt(sum of squared gradients) + eps)
template <typename acc_t>
struct AdagradStep {
  acc_t rate, decay, small, sign;

  C10_ALWAYS_INLINE AdagradStep(double lr, double lr_decay, double step, double weight_decay,
                                double eps, double sign_)
      : rate(static_cast<acc_t>(lr / (1 + (step - 1) * lr_decay))),
        decay(static_cast<acc_t>(weight_decay)),
        small(static_cast<acc_t>(eps)),
        sign(static_cast<acc_t>(sign_)) {}

  template <bool decays>
  C10_ALWAYS_INLINE void apply(acc_t& parameter, acc_t grad, acc_t& sum) const {
    const acc_t gradient = direction<decays>(grad, parameter, sign, decay);
    sum += gradient * gradient;
    parameter -= rate * gradient / (vec::sqrt(sum) + small);
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
