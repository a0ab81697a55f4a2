// The functions of aten/vec for complex numbers.
#pragma once

#include "aten/vec/core.h"
#include "c10/util/complex.h"
#include "c10/util/complex_math.h"

// Arithmetic vectorises; the other functions are the C library's.

namespace at::vec {
inline namespace CPU_CAPABILITY {

#define AT_VEC_COMPLEX_FUNCTION(NAME)                         \
  template <class T>                                          \
  C10_ALWAYS_INLINE c10::complex<T> NAME(c10::complex<T> z) { \
    return c10::NAME(z);                                      \
  }
AT_VEC_COMPLEX_FUNCTION(exp)
AT_VEC_COMPLEX_FUNCTION(log)
AT_VEC_COMPLEX_FUNCTION(log2)
AT_VEC_COMPLEX_FUNCTION(log10)
AT_VEC_COMPLEX_FUNCTION(sqrt)
AT_VEC_COMPLEX_FUNCTION(sin)
AT_VEC_COMPLEX_FUNCTION(cos)
AT_VEC_COMPLEX_FUNCTION(tan)
AT_VEC_COMPLEX_FUNCTION(sinh)
AT_VEC_COMPLEX_FUNCTION(cosh)
AT_VEC_COMPLEX_FUNCTION(tanh)
AT_VEC_COMPLEX_FUNCTION(asin)
AT_VEC_COMPLEX_FUNCTION(acos)
AT_VEC_COMPLEX_FUNCTION(atan)
AT_VEC_COMPLEX_FUNCTION(asinh)
AT_VEC_COMPLEX_FUNCTION(acosh)
AT_VEC_COMPLEX_FUNCTION(atanh)
AT_VEC_COMPLEX_FUNCTION(conj)
#undef AT_VEC_COMPLEX_FUNCTION

template <class T>
C10_ALWAYS_INLINE c10::complex<T> pow(c10::complex<T> z, c10::complex<T> w) {
  return c10::pow(z, w);
}
template <class T>
C10_ALWAYS_INLINE c10::complex<T> exp2(c10::complex<T> z) {
  return c10::exp(z * T(0x1.62e42fefa39efp-1));
}
/// exp(z) - 1 = (expm1(x) cos(y) - 2 sin(y/2)^2) + i exp(x) sin(y), without cancellation near 0.
template <class T>
C10_ALWAYS_INLINE c10::complex<T> expm1(c10::complex<T> z) {
  const double x = z.real();
  const double y = z.imag();
  const double half = __builtin_sin(0.5 * y);
  return {static_cast<T>(__builtin_expm1(x) * __builtin_cos(y) - 2 * half * half),
          static_cast<T>(__builtin_exp(x) * __builtin_sin(y))};
}
/// log(1 + z); |1 + z|^2 - 1 = x (2 + x) + y^2 keeps small z exact.
template <class T>
C10_ALWAYS_INLINE c10::complex<T> log1p(c10::complex<T> z) {
  const double x = z.real(), y = z.imag();
  const double modulus = x * (2 + x) + y * y;
  const bool moderate = modulus < 1e100 && modulus > -0.5;
  const double magnitude =
      moderate ? 0.5 * __builtin_log1p(modulus) : __builtin_log(__builtin_hypot(1 + x, y));
  return {static_cast<T>(magnitude), static_cast<T>(__builtin_atan2(y, 1 + x))};
}
template <class T>
C10_ALWAYS_INLINE c10::complex<T> sigmoid(c10::complex<T> z) {
  return T(1) / (T(1) + c10::exp(-z));
}
template <class T>
C10_ALWAYS_INLINE c10::complex<T> reciprocal(c10::complex<T> z) {
  return c10::complex<T>(1) / z;
}
template <class T>
C10_ALWAYS_INLINE c10::complex<T> rsqrt(c10::complex<T> z) {
  return c10::complex<T>(1) / c10::sqrt(z);
}
template <class T>
C10_ALWAYS_INLINE c10::complex<T> square(c10::complex<T> z) {
  return z * z;
}
/// z / |z|, 0 for 0.
template <class T>
C10_ALWAYS_INLINE c10::complex<T> sign(c10::complex<T> z) {
  const T magnitude = c10::abs(z);
  return magnitude == T(0) ? c10::complex<T>(0) : z / magnitude;
}

template <class T>
C10_ALWAYS_INLINE T abs(c10::complex<T> z) {
  return c10::abs(z);
}
template <class T>
C10_ALWAYS_INLINE T arg(c10::complex<T> z) {
  return c10::arg(z);
}
template <class T>
C10_ALWAYS_INLINE T real(c10::complex<T> z) {
  return z.real();
}
template <class T>
C10_ALWAYS_INLINE T imag(c10::complex<T> z) {
  return z.imag();
}
template <class T>
C10_ALWAYS_INLINE bool isnan(c10::complex<T> z) {
  return z.real() != z.real() || z.imag() != z.imag();
}
template <class T>
C10_ALWAYS_INLINE bool isinf(c10::complex<T> z) {
  return abs(z.real()) == static_cast<T>(kInfinity) || abs(z.imag()) == static_cast<T>(kInfinity);
}
template <class T>
C10_ALWAYS_INLINE bool isfinite(c10::complex<T> z) {
  return abs(z.real()) < static_cast<T>(kInfinity) && abs(z.imag()) < static_cast<T>(kInfinity);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
