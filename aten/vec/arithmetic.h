// Rounding, comparison and simple arithmetic on floating-point numbers.
#pragma once

#include <type_traits>

#include "aten/vec/core.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <class T>
C10_ALWAYS_INLINE bool isnan(T x) {
  return x != x;
}
C10_ALWAYS_INLINE bool isinf(float x) { return abs(x) == kInfinityFloat; }
C10_ALWAYS_INLINE bool isinf(double x) { return abs(x) == kInfinity; }
C10_ALWAYS_INLINE bool isfinite(float x) { return abs(x) < kInfinityFloat; }
C10_ALWAYS_INLINE bool isfinite(double x) { return abs(x) < kInfinity; }
C10_ALWAYS_INLINE bool signbit(float x) { return static_cast<int32_t>(bits_of(x)) < 0; }
C10_ALWAYS_INLINE bool signbit(double x) { return static_cast<int64_t>(bits_of(x)) < 0; }

/// NaN if either is NaN.
template <class T>
C10_ALWAYS_INLINE T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
C10_ALWAYS_INLINE T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
/// The other one if one is NaN.
template <class T>
C10_ALWAYS_INLINE T fmax(T a, T b) {
  return a > b || b != b ? a : b;
}
template <class T>
C10_ALWAYS_INLINE T fmin(T a, T b) {
  return a < b || b != b ? a : b;
}

/// NaN stays NaN.
template <class T>
C10_ALWAYS_INLINE T relu(T x) {
  return x < T(0) ? T(0) : x;
}
/// -1, 0 or 1; 0 for NaN.
template <class T>
C10_ALWAYS_INLINE T sign(T x) {
  return static_cast<T>(x > T(0)) - static_cast<T>(x < T(0));
}
template <class T>
C10_ALWAYS_INLINE T square(T x) {
  return x * x;
}
template <class T>
C10_ALWAYS_INLINE T reciprocal(T x) {
  return T(1) / x;
}
C10_ALWAYS_INLINE float rsqrt(float x) { return 1.0f / sqrt(x); }
C10_ALWAYS_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }

template <class T>
  requires std::is_arithmetic_v<T>
C10_ALWAYS_INLINE T conj(T x) {
  return x;
}
template <class T>
  requires std::is_arithmetic_v<T>
C10_ALWAYS_INLINE T real(T x) {
  return x;
}

C10_ALWAYS_INLINE float floor(float x) { return __builtin_floorf(x); }
C10_ALWAYS_INLINE double floor(double x) { return __builtin_floor(x); }
C10_ALWAYS_INLINE float ceil(float x) { return __builtin_ceilf(x); }
C10_ALWAYS_INLINE double ceil(double x) { return __builtin_ceil(x); }
C10_ALWAYS_INLINE float trunc(float x) { return __builtin_truncf(x); }
C10_ALWAYS_INLINE double trunc(double x) { return __builtin_trunc(x); }

/// Rounds to the nearest integer, ties to even.
C10_ALWAYS_INLINE float round(float x) {
#ifdef __SSE4_1__
  return __builtin_rintf(x);
#else
  const float magnitude = abs(x);
  const float rounded = (magnitude + 0x1p23f) - 0x1p23f;
  return magnitude < 0x1p23f ? copysign(rounded, x) : x;
#endif
}
C10_ALWAYS_INLINE double round(double x) {
#ifdef __SSE4_1__
  return __builtin_rint(x);
#else
  const double magnitude = abs(x);
  const double rounded = (magnitude + 0x1p52) - 0x1p52;
  return magnitude < 0x1p52 ? copysign(rounded, x) : x;
#endif
}

/// The remainder of truncated division, exact, with the sign of x. Not vectorised: the number of
/// steps depends on the operands.
C10_ALWAYS_INLINE float fmod(float x, float y) { return __builtin_fmodf(x, y); }
C10_ALWAYS_INLINE double fmod(double x, double y) { return __builtin_fmod(x, y); }

/// sqrt(x^2 + y^2) without overflow or underflow. Infinite if either is infinite, even if the other
/// is NaN.
C10_ALWAYS_INLINE float hypot(float x, float y) {
  const double a = x, b = y;
  const float length = static_cast<float>(sqrt(a * a + b * b));
  return isinf(x) || isinf(y) ? kInfinityFloat : length;
}
C10_ALWAYS_INLINE double hypot(double x, double y) { return __builtin_hypot(x, y); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
