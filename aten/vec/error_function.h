// The error function, the logarithm of the gamma function, and digamma.
#pragma once

#include "aten/vec/device_math.h"
#include "aten/vec/exponential.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

C10_ALWAYS_INLINE float erf(float x) {
  AT_VEC_ON_DEVICE(::erff(x));
  const float magnitude = abs(x);
  const float square = x * x;
  const float p = polynomial(square, 0x1.06eba8p-3f, -0x1.812740p-2f, 0x1.ce2d5cp-4f,
                             -0x1.b7ff94p-6f, 0x1.5431f8p-8f, -0x1.a4d7e0p-11f, 0x1.4a23f0p-14f);
  const float small = multiply_add(x, p, x);

  const float clamped = magnitude > 4.0f ? 4.0f : magnitude;  // erf(4) rounds to 1; NaN passes
  const float log_erfc =
      polynomial(clamped, 0x1.56ddecp-13f, -0x1.212452p+0f, -0x1.4454a4p-1f, -0x1.bb0210p-4f,
                 0x1.9a3b54p-6f, -0x1.0f52acp-8f, 0x1.c0cc64p-12f, -0x1.587d86p-16f);

  return magnitude < 0.88f ? small : copysign(1.0f - exp(log_erfc), x);
}
C10_ALWAYS_INLINE double erf(double x) {
  AT_VEC_ON_DEVICE(::erf(x));
  const double magnitude = abs(x);
  const double p = polynomial(x * x, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2,
                              0x1.ce2f21a042b20p-4, -0x1.b82ce3128498bp-6, 0x1.565bcd0db0030p-8,
                              -0x1.c02db3d8e5208p-11, 0x1.f9a321a02d15bp-14, -0x1.f4d1df26b9157p-17,
                              0x1.b9def0a98d54dp-20, -0x1.5f1d2e782c599p-23, 0x1.f7a3b6fc0a02cp-27,
                              -0x1.3869a0e08c80ap-30, 0x1.0576903d0bbf2p-34);
  const double small = multiply_add(x, p, x);

  const double clamped = magnitude > 5.95 ? 5.95 : magnitude;  // erf rounds to 1 there; NaN passes
  const double log_erfc = polynomial(
      clamped, -0x1.0dfe79f9680eep-21, -0x1.20dd1fd1d5965p+0, -0x1.45f62765e21efp-1,
      -0x1.a4ac5b1dd3c78p-4, 0x1.37228a4d1f11bp-6, 0x1.ae96c4c6e47a3p-12, -0x1.f641b8b197068p-10,
      0x1.940b7adf627eap-11, -0x1.1b3c627995478p-13, -0x1.53f5a6bb4abfcp-16, 0x1.7ee006467af15p-16,
      -0x1.22cec33596f93p-17, 0x1.1ea1e0ec0b39ap-19, -0x1.90cfb9e2de7b1p-22, 0x1.8ebfb0e03f6e5p-25,
      -0x1.0e58524d68bcap-28, 0x1.c1aa1ee85085bp-33, -0x1.5acc4e81fcb1ep-38);

  return magnitude < 1.0 ? small : copysign(1.0 - exp(log_erfc), x);
}

/// erfc(a) = exp(-a^2) P(t) / (1 + 2 a) with t = (a - 2) / (a + 2) for a >= 0, and
/// erfc(-a) = 2 - erfc(a).
C10_ALWAYS_INLINE float erfc(float x) {
  double a = abs(x);
  a = a > 11.0 ? 11.0 : a;  // the result is 0 from 10.06 on; NaN passes
  const double t = (a - 2.0) / (a + 2.0);
  const double p = polynomial(t, 0x1.46e80e22c7bedp+0, -0x1.7bf5ebdab9f15p-4, -0x1.5407c026b992cp-3,
                              0x1.4ffa181a6ae50p-3, -0x1.bc2b1713eb543p-5, -0x1.073c63ba5ad93p-7,
                              0x1.1dc3492a0a5dcp-7, 0x1.4bfe0399f4e1ep-10, -0x1.7c4529b899f4ep-10,
                              -0x1.ca02b72821973p-12, 0x1.a1d58aceec2cap-13, 0x1.f41141d199e6fp-14,
                              -0x1.9855d74af1e49p-18, -0x1.7fa9e54a20326p-17);
  const double value = wide::exp(-a * a) * p / (1.0 + 2.0 * a);
  return static_cast<float>(x < 0.0f ? 2.0 - value : value);
}
C10_ALWAYS_INLINE double erfc(double x) { return __builtin_erfc(x); }

C10_ALWAYS_INLINE double lgamma(double x) { return __builtin_lgamma(x); }
C10_ALWAYS_INLINE float lgamma(float x) { return static_cast<float>(__builtin_lgamma(x)); }

/// The derivative of lgamma: reflection for negative x, recurrence up to 10, then the asymptotic
/// series log(x) - 1/(2x) - sum B_2k / (2k x^2k). Not vectorised.
AT_VEC_CALLED double digamma(double x) {
  if (x == 0.0) return copysign(kInfinity, -x);

  double result = 0.0;
  if (x < 0.0) {
    // The distance to the nearest pole is exact; that to the one above or below may not be.
    const double distance = x - round(x);
    if (distance == 0.0 || x == -kInfinity) return __builtin_nan("");
    constexpr double pi = 0x1.921fb54442d18p+1;
    result = -pi / __builtin_tan(pi * distance);
    x = 1.0 - x;
  }

  for (; x < 10.0; x += 1.0) result -= 1.0 / x;
  const double inverse = 1.0 / (x * x);
  const double series = inverse * polynomial(inverse, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240,
                                             1.0 / 132, -691.0 / 32760, 1.0 / 12);
  return result + (__builtin_log(x) - 0.5 / x - series);
}
AT_VEC_CALLED float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
