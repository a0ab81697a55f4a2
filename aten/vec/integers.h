// Functions that leave integers and bool as they are, so that one formula serves all dtypes.
#pragma once

#include <concepts>

#include "aten/vec/arithmetic.h"
#include "aten/vec/wrapping.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <std::integral T>
C10_ALWAYS_INLINE T abs(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x < 0 ? static_cast<T>(wrapping_negative(x)) : x;
  }
}
template <std::integral T>
C10_ALWAYS_INLINE T floor(T x) {
  return x;
}
template <std::integral T>
C10_ALWAYS_INLINE T ceil(T x) {
  return x;
}
template <std::integral T>
C10_ALWAYS_INLINE T trunc(T x) {
  return x;
}
template <std::integral T>
C10_ALWAYS_INLINE T round(T x) {
  return x;
}
template <std::integral T>
C10_ALWAYS_INLINE bool isinf(T) {
  return false;
}
template <std::integral T>
C10_ALWAYS_INLINE bool isfinite(T) {
  return true;
}

template <class T>
  requires std::is_arithmetic_v<T>
C10_ALWAYS_INLINE T imag(T) {
  return T(0);
}

/// Limits x to [low, high]. high wins if low > high; NaN stays NaN.
template <class T>
C10_ALWAYS_INLINE T clamp(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}

/// x to the power of n by squaring: exact for integers, and without a call for the squares and
/// cubes of formulas.
template <int n, class T>
C10_ALWAYS_INLINE T integer_power(T x) {
  if constexpr (n < 0) {
    return T(1) / integer_power<-n>(x);
  } else if constexpr (n == 0) {
    return T(1);
  } else if constexpr (n == 1) {
    return x;
  } else {
    const T half = integer_power<n / 2>(x);
    const T square = static_cast<T>(wrapping_product(half, half));
    return n % 2 == 0 ? square : static_cast<T>(wrapping_product(square, x));
  }
}

/// Python's modulus: the result has the sign of y.
C10_ALWAYS_INLINE float remainder(float x, float y) {
  const float r = fmod(x, y);
  return r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r;
}
C10_ALWAYS_INLINE double remainder(double x, double y) {
  const double r = fmod(x, y);
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? r + y : r;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
