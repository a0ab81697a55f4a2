// The scaled complementary error function, and the inverses of erf and of the normal distribution.
#pragma once

#include "aten/vec/chebyshev.h"
#include "aten/vec/error_function.h"
#include "aten/vec/exponential.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

// erfcx(a) (1 + 2 a) as a series in t = (a - 2) / (a + 2), for all a >= 0.
C10_DEVICE_TABLE double kErfcx[] = {
    0x1.2d0ec5ada14d5p+0,   0x1.a65fca0b19081p-6,   -0x1.b49b0502380fdp-4,  0x1.3dec1e92234f9p-5,
    -0x1.62def21d42d81p-8,  -0x1.abfa9f3b9f3b6p-12, 0x1.a0276b69043e3p-13,  0x1.4a42b677d2f3ap-17,
    -0x1.047df181ff638p-17, -0x1.8126b9aa2d5dfp-21, 0x1.513ac3fca838ap-22,  0x1.09ca7015260aep-24,
    -0x1.53d6d0202f433p-27, -0x1.3bcb20070dde5p-28, -0x1.3bce3b04d1f14p-34, 0x1.21212d0936689p-32,
    0x1.ac2ba05ce3dc5p-35,  -0x1.1a6b065625487p-37, -0x1.504d3778077c4p-38, -0x1.e96e1beb852b2p-42,
    0x1.0f9a399d2f082p-42,  0x1.83ccec8170d24p-44,  0x1.75f1ed92f0ff3p-49,  -0x1.a723f945244a1p-48,
    -0x1.ea8c7b2d806edp-50, 0x1.ffd8535ce8450p-57,  0x1.44f183de8b275p-53,  0x1.624b8d9fef393p-55};

/// For a >= 0.
C10_ALWAYS_INLINE double positive_erfcx(double a) {
  return chebyshev(a > 1e17 ? 1.0 : (a - 2.0) / (a + 2.0), kErfcx) / (1.0 + 2.0 * a);
}

/// exp(x^2) erfc(x)
C10_ALWAYS_INLINE double erfcx(double x) {
  const double a = abs(x);
  const double positive = positive_erfcx(a);
  if (!(x < 0.0)) return positive;
  if (a > 27.0) return kInfinity;

  // The square in two parts (Dekker's product): an error in its last bit would be multiplied by
  // x^2.
  const double scaled = 0x8000001p0 * a;
  const double high = scaled - (scaled - a);
  const double low = a - high;
  const double square = a * a;
  const double rest = ((high * high - square) + 2.0 * high * low) + low * low;

  const double power = 2.0 * exp(square);
  return power + (power * rest - positive);
}
/// Without branches: the square of a float is exact in double.
C10_ALWAYS_INLINE float erfcx(float x) {
  const double v = x;
  const double a = abs(v);
  const double positive = positive_erfcx(a);
  const double negative = 2.0 * wide::exp(a > 10.0 ? 100.0 : a * a) - positive;
  return static_cast<float>(v < 0.0 ? negative : positive);
}

namespace wide {

/// erfinv with a relative error below 1e-8, for |x| < 1: a series in w = -log(1 - x^2), and one in
/// its root for w beyond 5.5.
C10_ALWAYS_INLINE double erfinv(double x) {
  const double w = -log((1.0 - x) * (1.0 + x));
  const double s = sqrt(w);

  const double middle = polynomial(
      w, 0x1.c5bf892a4f716p-1, 0x1.db29eeee1dad4p-3, 0x1.7a797eba9bb28p-7, -0x1.32693f4c57968p-9,
      -0x1.0316a60892ee4p-13, 0x1.6182d4778d137p-15, 0x1.3ef76a1091044p-18, -0x1.13480fdb9199dp-19,
      0x1.9e47191176cd3p-23, 0x1.bcd37d650d085p-30, -0x1.7465c213d43aap-30, 0x1.1ee1fc859495cp-34);

  const double tail = polynomial(
      s, -0x1.43a9261fd82bcp+3, 0x1.3289e3d1f2bc0p+5, -0x1.de717cf12f463p+5, 0x1.bfc17ab6c6ac3p+5,
      -0x1.1537bc8112b56p+5, 0x1.e3970f1b14f05p+3, -0x1.332b4ea3189bep+2, 0x1.20a0b7416634fp+0,
      -0x1.920d6be0bbc46p-3, 0x1.9a9ebf8ea96b0p-6, -0x1.2b323df8c51b4p-9, 0x1.26d21c7168cd8p-13,
      -0x1.605a3eaa5eef8p-18, 0x1.81f19b686acc4p-24);

  return x * (w < 5.5 ? middle : tail);
}

}  // namespace wide

/// Infinite at -1 and 1, NaN outside.
C10_ALWAYS_INLINE float erfinv(float x) {
  const float inside = static_cast<float>(wide::erfinv(x));
  const float outside = abs(x) == 1.0f ? copysign(kInfinityFloat, x) : __builtin_nanf("");
  return abs(x) < 1.0f ? inside : outside;
}
/// One step of Halley's method from the value above. Near 1 it solves erfc(y) = 1 - x, which keeps
/// the digits.
AT_VEC_CALLED double erfinv(double x) {
  const double a = abs(x);
  if (!(a < 1.0)) return a == 1.0 ? copysign(kInfinity, x) : __builtin_nan("");

  const double y = wide::erfinv(a);
  const double excess = a < 0.5 ? __builtin_erf(y) - a : (1.0 - a) - __builtin_erfc(y);
  const double step = excess * (0.5 * 0x1.c5bf891b4ef6bp+0) * exp(y * y);
  return copysign(y - step / multiply_add(y, step, 1.0), x);
}

/// The inverse of the normal distribution function for 0 < p < 1/2: Acklam's rational approximation
/// and two steps of Halley's method.
AT_VEC_CALLED double lower_quantile(double p) {
  const double log_p = __builtin_log(p);
  const double q = sqrt(-2.0 * log_p);

  double x = polynomial(q, 2.938163982698783e+00, 4.374664141464968e+00, -2.549732539343734e+00,
                        -2.400758277161838e+00, -3.223964580411365e-01, -7.784894002430293e-03) /
             polynomial(q, 1.0, 3.754408661907416e+00, 2.445134137142996e+00, 3.224671290700398e-01,
                        7.784695709041462e-03);

  for (int i = 0; i < 2; ++i) {
    // Relative to p: p itself may be close to the smallest number, and below that have few digits.
    const double argument = x * -0x1.6a09e667f3bcdp-1;
    const double ratio =
        p < 1e-290 ? erfcx(argument) * exp(-0.5 * x * x - log_p) : __builtin_erfc(argument) / p;
    const double excess = 0.5 * ratio - 1.0;
    const double step = excess * exp(0.5 * x * x + log_p) * 0x1.40d931ff62706p+1;
    x -= step / multiply_add(0.5 * x, step, 1.0);
  }

  return x;
}

AT_VEC_CALLED double ndtri(double p) {
  if (!(p > 0.0 && p < 1.0))
    return p == 0.0 ? -kInfinity : p == 1.0 ? kInfinity : __builtin_nan("");
  if (p > 0.1 && p < 0.9) return 0x1.6a09e667f3bcdp+0 * erfinv(2.0 * p - 1.0);
  return p < 0.5 ? lower_quantile(p) : -lower_quantile(1.0 - p);
}
AT_VEC_CALLED float ndtri(float p) { return static_cast<float>(ndtri(static_cast<double>(p))); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
