// The sign bit of integers; mantissa and exponent of floating-point numbers.
#pragma once

#include <concepts>

#include "aten/vec/arithmetic.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <std::integral T>
C10_ALWAYS_INLINE bool signbit(T x) {
  if constexpr (std::is_signed_v<T>) return x < 0;
  return false;
}

/// x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1. For 0, infinities and NaN the mantissa is
/// the number itself and the exponent 0.
C10_ALWAYS_INLINE double frexp_exponent(double x) {
  const double a = abs(x);
  const bool is_denormal = a < 0x1p-1022;
  const uint64_t bits = bits_of(is_denormal ? a * 0x1p54 : a);
  const double exponent =
      static_cast<double>(static_cast<int32_t>(bits >> 52) - (is_denormal ? 1022 + 54 : 1022));
  return a > 0.0 && a < kInfinity ? exponent : 0.0;
}
C10_ALWAYS_INLINE double frexp_mantissa(double x) {
  const double a = abs(x);
  const double normal = a < 0x1p-1022 ? x * 0x1p54 : x;
  const double mantissa = from_bits((bits_of(normal) & 0x800fffffffffffffu) | 0x3fe0000000000000u);
  return a > 0.0 && a < kInfinity ? mantissa : x;
}
C10_ALWAYS_INLINE float frexp_exponent(float x) {
  return static_cast<float>(frexp_exponent(static_cast<double>(x)));
}
C10_ALWAYS_INLINE float frexp_mantissa(float x) {
  return static_cast<float>(frexp_mantissa(static_cast<double>(x)));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
