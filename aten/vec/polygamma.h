// Hurwitz's zeta function and the derivatives of digamma.
//
// Not vectorised: the number of steps depends on the arguments, but not on their size.
#pragma once

#include "aten/vec/arithmetic.h"
#include "aten/vec/error_function.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// The sum of (q + k)^-x over k = 0, 1, ... for x > 1 and q > 0: the first terms are added one by
/// one, the rest follows from the Euler-Maclaurin formula.
AT_VEC_CALLED double zeta_of_positive(double x, double q) {
  double sum = __builtin_pow(q, -x);
  double base = q;
  for (int i = 0; i < 9 || base <= 9.0; ++i) {
    base += 1.0;
    const double term = __builtin_pow(base, -x);
    sum += term;
    if (abs(term) < 0x1p-54 * abs(sum)) return sum;
  }

  const double last = __builtin_pow(base, -x);
  sum += last * (base / (x - 1.0) - 0.5);

  // B_2k / (2k)!
  constexpr double kBernoulli[] = {
      0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19};

  double factor = x;
  double power = last / base;
  int k = 0;
  for (const double b : kBernoulli) {
    const double term = b * factor * power;
    sum += term;
    if (abs(term) < 0x1p-54 * abs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= base * base;
    ++k;
  }

  return sum;
}

/// Hurwitz's zeta function. For negative q and whole x the terms below 0 are, up to the sign
/// (-1)^x, those of a sum over positive numbers that ends: the difference of two zeta functions.
AT_VEC_CALLED double zeta(double x, double q) {
  if (x == 1.0) return kInfinity;
  if (!(x > 1.0) || q != q) return __builtin_nan("");
  if (q > 0.0) return zeta_of_positive(x, q);

  if (q == floor(q)) return kInfinity;
  if (x != floor(x)) return __builtin_nan("");  // a power of a negative number

  // The terms closest to 0 on both sides; the distance to the nearest whole number is exact.
  const double distance = q - round(q);
  const double above = distance > 0.0 ? distance : 1.0 + distance;
  const double below = distance > 0.0 ? 1.0 - distance : -distance;

  const double negative = zeta_of_positive(x, below) - zeta_of_positive(x, 1.0 - q);
  const bool is_even = x == 2.0 * floor(0.5 * x);
  return zeta_of_positive(x, above) + (is_even ? negative : -negative);
}
AT_VEC_CALLED float zeta(float x, float q) {
  return static_cast<float>(zeta(static_cast<double>(x), static_cast<double>(q)));
}

/// The first derivative of digamma: reflection for negative x, recurrence up to 10, then the
/// asymptotic series 1/x + 1/(2 x^2) + sum B_2k / x^(2k + 1).
AT_VEC_CALLED double trigamma(double x) {
  if (x == -kInfinity) return __builtin_nan("");  // between poles, like every number so far left

  double result = 0.0;
  double sign = 1.0;
  if (x < 0.5) {
    constexpr double pi = 0x1.921fb54442d18p+1;
    const double ratio = pi / __builtin_sin(pi * (x - round(x)));
    result = ratio * ratio;
    sign = -1.0;
    x = 1.0 - x;
  }

  for (; x < 10.0; x += 1.0) result += sign / (x * x);

  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  const double series = polynomial(square, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66,
                                   -691.0 / 2730, 7.0 / 6, -3617.0 / 510);
  return result + sign * (inverse + square * (0.5 + inverse * series));
}

/// The n-th derivative of digamma: n! zeta(n + 1, x), with the sign of (-1)^(n + 1).
AT_VEC_CALLED double polygamma(double n, double x) {
  if (n == 0.0) return digamma(x);
  if (n == 1.0) return trigamma(x);
  const double magnitude = __builtin_exp(__builtin_lgamma(n + 1.0)) * zeta(n + 1.0, x);
  return n == 2.0 * floor(0.5 * n) ? -magnitude : magnitude;
}
AT_VEC_CALLED float polygamma(float n, float x) {
  return static_cast<float>(polygamma(static_cast<double>(n), static_cast<double>(x)));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
