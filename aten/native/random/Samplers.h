#pragma once
// Single random numbers of the Poisson, binomial and gamma distributions, from draws of a device:
// SerialDraws, or PhiloxDraws in kernels.
#include <cmath>
#include <limits>

#include "c10/util/Export.h"

namespace at::native {

/// Knuth's method: counts the uniform factors that keep a product above exp(-rate).
template <class Draws>
C10_HOST_DEVICE double poisson_by_products(Draws& source, double rate) {
  const double limit = std::exp(-rate);
  double count = 0;
  for (double product = source.uniform(); product > limit; product *= source.uniform()) ++count;
  return count;
}

/// Transformed rejection for rates of at least 10: algorithm PTRS of Hörmann (1993), with the
/// paper's names.
template <class Draws>
C10_HOST_DEVICE double poisson_by_rejection(Draws& source, double rate) {
  const double root = std::sqrt(rate);
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);

  for (;;) {
    const double u = source.uniform() - 0.5;
    const double v = source.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);

    // Most candidates are accepted or rejected without a logarithm.
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}

template <class Draws>
C10_HOST_DEVICE double draw_poisson(Draws& source, double rate) {
  if (rate == 0 || std::isnan(rate)) return rate;
  return rate >= 10 ? poisson_by_rejection(source, rate) : poisson_by_products(source, rate);
}

/// Adds up geometric waiting times between successes until they exceed the number of trials.
template <class Draws>
C10_HOST_DEVICE double binomial_by_waiting(Draws& source, double count, double p) {
  double waited = 0;
  double successes = 0;
  for (;;) {
    waited += std::ceil(std::log(source.uniform()) / std::log1p(-p));
    if (waited > count) return successes;
    ++successes;
  }
}

/// The error of Stirling's approximation (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2 of log(k!).
C10_HOST_DEVICE inline double stirling_rest(double k) {
  return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.91893853320467274178);
}

/// Transformed rejection for count * p of at least 10: algorithm BTRS of Hörmann (1993), with the
/// paper's names.
template <class Draws>
C10_HOST_DEVICE double binomial_by_rejection(Draws& source, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * p);

  for (;;) {
    const double u = source.uniform() - 0.5;
    const double v = source.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + c);

    // Most candidates are accepted or rejected without a logarithm.
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;

    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

template <class Draws>
C10_HOST_DEVICE double draw_binomial(Draws& source, double count, double p) {
  if (std::isnan(count) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p > 0.5) return count - draw_binomial(source, count, 1 - p);
  return count * p >= 10 ? binomial_by_rejection(source, count, p)
                         : binomial_by_waiting(source, count, p);
}

/// The method of Marsaglia and Tsang (2000). For a shape below 1, a number of the shape plus 1 is
/// scaled by uniform^(1 / shape).
template <class Draws>
C10_HOST_DEVICE double draw_gamma(Draws& source, double shape) {
  if (shape == 0 || std::isnan(shape)) return shape;

  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - source.uniform(), 1 / shape);
    shape += 1;
  }

  // A cubed normal number (1 + c x)^3 is accepted or rejected.
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x;
    double y;
    do {
      x = source.normal();
      y = 1 + c * x;
    } while (y <= 0);

    const double v = y * y * y;
    const double u = 1 - source.uniform();
    const double xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

/// The derivative of a gamma number x by its shape a where the distribution function P(a, x) stays
/// constant: -(dP/da) / (dP/dx).
C10_HOST_DEVICE inline double gamma_derivative(double a, double x, double digamma) {
  if (!(x > 0) || std::isinf(x)) return x == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();

  // For large shapes the cube root of x / a is nearly normal (Wilson and Hilferty 1931), with an
  // error of a^-2. The derivative is taken at constant z, the normal number.
  if (a > 1000) {
    const double root = std::cbrt(x / a);
    const double z = 3 * std::sqrt(a) * (root - 1 + 1 / (9 * a));
    return root * root * root + 3 * root * root * (1 / (9 * a) - z / (6 * std::sqrt(a)));
  }

  // P is the sum of x^(a + n) exp(-x) / gamma(a + n + 1) over n. The logarithm of each term has the
  // derivative log(x) - digamma(a + n + 1). Here the terms are divided by x dP/dx, which is
  // x^a exp(-x) / gamma(a), so that the first is 1 / a.
  const double log_x = std::log(x);
  double term = 1 / a;
  double psi = digamma + 1 / a;
  double sum = 0;
  for (int n = 0; n < 100000; ++n) {
    const double change = term * (log_x - psi);
    sum += change;
    if (a + n > x && std::fabs(change) < 1e-17 * std::fabs(sum)) break;

    psi += 1 / (a + n + 1);
    term *= x / (a + n + 1);
  }
  return -x * sum;
}

}  // namespace at::native
