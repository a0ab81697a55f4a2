// Airy's function Ai, the solution of y'' = x y that decays to the right.
#pragma once

#include "aten/vec/arithmetic.h"

// Not vectorised.

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// Ai and Ai' at -9, -8, ..., 2.
C10_DEVICE_TABLE double kAiryAtIntegers[][2] = {
    {-0x1.6aa38e8bd0844p-6, -0x1.f38a3ab3ed723p-1}, {-0x1.afc28073abb84p-5, 0x1.df01d7e1f41fap-1},
    {0x1.79683b0571a28p-3, -0x1.8ac195288a6bdp-1},  {-0x1.510b6eb1815d2p-2, 0x1.623ce99198c5bp-2},
    {0x1.672de4d9e1d32p-2, 0x1.4f0ba25cb5a72p-2},   {-0x1.1fcec060d9f19p-4, -0x1.94cd44c4fb752p-1},
    {-0x1.83e7e4ea6959ap-2, 0x1.42223f628d022p-2},  {0x1.d1bafc57f31d0p-3, 0x1.3c8c724515c8fp-1},
    {0x1.1235093d83da5p-1, -0x1.4cf103bcc6624p-7},  {0x1.6b8c7962715b8p-2, -0x1.0907f42b70f8bp-2},
    {0x1.151430bbaf656p-3, -0x1.45ef17fce4faep-3},  {0x1.1e1935c04b623p-5, -0x1.b2ea9b1bfccdcp-5}};

/// Taylor's series around the nearest whole number; the differential equation gives each
/// coefficient from two before it.
AT_VEC_CALLED double airy_ai_series(double x) {
  const double centre = __builtin_nearbyint(x);
  const double h = x - centre;
  const double* start = kAiryAtIntegers[static_cast<int>(centre) + 9];

  double before = 0;
  double first = start[0];
  double second = start[1];
  double power = h;
  double sum = first + second * h;
  for (int k = 0; k < 26; ++k) {
    const double next = (centre * first + before) / ((k + 1) * (k + 2));
    before = first;
    first = second;
    second = next;
    power *= h;
    sum += next * power;
  }
  return sum;
}

/// 2/3 x^(3/2) as a value and its rounding error.
struct AiryArgument {
  C10_HOST_DEVICE explicit AiryArgument(double x) {
    const double root = __builtin_sqrt(x);
    const double product = x * root;
    value = product * (2.0 / 3.0);
    const double lost =
        __builtin_fma(x, root, -product) + x * __builtin_fma(-root, root, x) / (2.0 * root);
    rest = (__builtin_fma(-3.0, value, 2.0 * product) + 2.0 * lost) / 3.0;
  }

  double value;
  double rest;
};

/// sqrt(x / 3) / pi K_1/3(zeta) with zeta = 2/3 x^(3/2) >= 1.2, by the trapezoidal rule for the
/// integral of exp(-zeta cosh t) cosh(t / 3), which converges exponentially.
AT_VEC_CALLED double airy_ai_decaying(double x) {
  if (x > 108.0) return 0.0;  // below the smallest number

  const AiryArgument zeta(x);
  const double step = __builtin_fmin(0.2, 0.7 / __builtin_sqrt(zeta.value));
  double sum = 0.5;
  for (double t = step;; t += step) {
    const double s = __builtin_sinh(0.5 * t);
    const double exponent = 2.0 * zeta.value * s * s;
    if (exponent > 40.0) break;
    sum += __builtin_exp(-exponent) * __builtin_cosh(t / 3.0);
  }

  constexpr double kFactor = 0.18377629847393068;  // 1 / (pi sqrt(3))
  return kFactor * __builtin_sqrt(x) * __builtin_exp(-zeta.value) * (1.0 - zeta.rest) * sum * step;
}

/// The asymptotic series of modulus and phase (Abramowitz and Stegun 10.4.60), for zeta >= 19.
AT_VEC_CALLED double airy_ai_oscillating(double x) {
  if (x < -1e100) return 0.0;
  const AiryArgument zeta(-x);

  double term = 1.0, even = 1.0, odd = 0.0;
  for (int k = 1; k < 28 && term > 1e-18; ++k) {
    term *=
        (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / ((2.0 * k - 1) * 216.0 * k * zeta.value);
    ((k & 1) != 0 ? odd : even) += (k & 2) != 0 ? -term : term;
  }

  // cos(zeta - pi / 4) even + sin(zeta - pi / 4) odd, over sqrt(pi) x^(1/4).
  // From x = -1e10 on, `rest` is an angle of its own.
  const double c = __builtin_cos(zeta.value);
  const double s = __builtin_sin(zeta.value);
  const double cosine = c * __builtin_cos(zeta.rest) - s * __builtin_sin(zeta.rest);
  const double sine = s * __builtin_cos(zeta.rest) + c * __builtin_sin(zeta.rest);
  constexpr double kFactor = 0.39894228040143268;  // 1 / sqrt(2 pi)
  return kFactor / __builtin_sqrt(__builtin_sqrt(-x)) *
         ((cosine + sine) * even + (sine - cosine) * odd);
}

AT_VEC_CALLED double airy_ai(double x) {
  if (x != x) return x;
  if (x > 1.5) return airy_ai_decaying(x);
  return x < -9.5 ? airy_ai_oscillating(x) : airy_ai_series(x);
}

AT_VEC_CALLED float airy_ai(float x) { return static_cast<float>(airy_ai(static_cast<double>(x))); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
