// Hyperbolic functions and their inverses.
#pragma once

#include "aten/vec/device_math.h"
#include "aten/vec/exponential.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// A polynomial near 0, otherwise 1 - 2 / (exp(2 |x|) + 1).
C10_ALWAYS_INLINE float tanh(float x) {
  AT_VEC_ON_DEVICE(::tanhf(x));
  const float magnitude = abs(x);
  const float square = x * x;
  const float p = polynomial(square, -0x1.555532p-2f, 0x1.1106f6p-3f, -0x1.b835a4p-5f,
                             0x1.51f908p-6f, -0x1.750f82p-8f);
  const float small = multiply_add(square * x, p, x);
  const float large = 1.0f - 2.0f / (exp(magnitude + magnitude) + 1.0f);
  return copysign(magnitude < 0.625f ? small : large, x);
}
C10_ALWAYS_INLINE double tanh(double x) {
  AT_VEC_ON_DEVICE(::tanh(x));
  const double magnitude = abs(x);
  const double square = x * x;
  const double p =
      polynomial(square, -0x1.5555555555552p-2, 0x1.1111111110bf7p-3, -0x1.ba1ba1b9cdbacp-5,
                 0x1.664f487012af1p-6, -0x1.226e32bca4bc9p-7, 0x1.d6d357999a426p-9,
                 -0x1.7d9c14323aaeap-10, 0x1.350a92c752dc2p-11, -0x1.f1093860fe733p-13,
                 0x1.7ff9a502abfd6p-14, -0x1.fa4226262b833p-16, 0x1.9525c15d9ee00p-18);
  const double small = multiply_add(square * x, p, x);
  const double large = 1.0 - 2.0 / (exp(magnitude + magnitude) + 1.0);
  return copysign(magnitude < 0.625 ? small : large, x);
}

C10_ALWAYS_INLINE float sinh(float x) {
  const double e = wide::expm1(abs(x));
  return copysign(static_cast<float>(0.5 * (e + e / (e + 1.0))), x);
}
C10_ALWAYS_INLINE double sinh(double x) { return __builtin_sinh(x); }

C10_ALWAYS_INLINE float cosh(float x) {
  AT_VEC_ON_DEVICE(::coshf(x));
  const double e = wide::exp(abs(x));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
C10_ALWAYS_INLINE double cosh(double x) { return __builtin_cosh(x); }

C10_ALWAYS_INLINE float asinh(float x) {
  const double a = abs(x);
  return copysign(static_cast<float>(wide::log1p(a + (sqrt(1.0 + a * a) - 1.0))), x);
}
C10_ALWAYS_INLINE double asinh(double x) { return __builtin_asinh(x); }

C10_ALWAYS_INLINE float acosh(float x) {
  const double t = static_cast<double>(x) - 1.0;
  const float result = static_cast<float>(wide::log1p(t + sqrt(t * (t + 2.0))));
  return x < 1.0f ? __builtin_nanf("") : result;
}
C10_ALWAYS_INLINE double acosh(double x) { return __builtin_acosh(x); }

C10_ALWAYS_INLINE float atanh(float x) {
  const double a = abs(x);
  return copysign(static_cast<float>(0.5 * wide::log1p(2.0 * a / (1.0 - a))), x);
}
C10_ALWAYS_INLINE double atanh(double x) { return __builtin_atanh(x); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
