// Bits of floating-point numbers, polynomials, and the rules for functions that vectorise.
#pragma once

#include <cstdint>

#include "c10/util/Export.h"

// Note [Functions that vectorise]
// The functions of aten/vec take and return one number and have selects instead of branches, so
// that `g++ -O3 -fno-math-errno -fno-trapping-math` turns a loop around them into vector code for
// the instruction set that the file is compiled for. Many float functions compute in double with a
// short polynomial (namespace `wide`). That halves the lanes, but results are rounded once, at most
// one unit in the last place off, and overflow and denormal numbers need no special cases. The most
// used functions (exp, log, tanh, sigmoid, erf) stay in float.
//
// Of the functions of double, exp, exp2, expm1, log, log1p, tanh, erf and, with fused multiply-add,
// sin and cos are our own, at most 1.5 units in the last place off; sigmoid, softplus and logaddexp
// consist of them. Most others, such as pow and tan, call the C library and do not vectorise.
//
// Polynomials come from tools/fit_polynomials.py; tests/aten/test_vec_math.py tests the accuracy.
//
// Note [One namespace per instruction set]
// Files that use this are compiled several times with different -m flags. One inline function would
// then have several versions under one name, of which the linker keeps any; hence the inline
// namespace.
#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

// A function that kernels call. Inlined, as nvcc would on its own, a long one would be compiled
// again for every element that a thread computes.
#ifdef __CUDACC__
#define AT_VEC_CALLED C10_HOST_DEVICE inline __noinline__
#else
#define AT_VEC_CALLED inline
#endif

// A function with a branch that few elements need. Loops around it are vectorised: GCC compiles
// versions of it that take a vector each and go through its elements, which costs a nanosecond for
// an element and no more.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define AT_VEC_CALLED_WITH_VECTORS \
  [[gnu::simd("notinbranch"), gnu::noinline, gnu::const, gnu::nothrow]] inline
#else
#define AT_VEC_CALLED_WITH_VECTORS inline
#endif

namespace at::vec {
inline namespace CPU_CAPABILITY {

C10_ALWAYS_INLINE uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
C10_ALWAYS_INLINE uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
C10_ALWAYS_INLINE float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
C10_ALWAYS_INLINE double from_bits(uint64_t bits) { return __builtin_bit_cast(double, bits); }

inline constexpr float kInfinityFloat = __builtin_inff();
inline constexpr double kInfinity = __builtin_inf();

/// a * b + c, fused where that is one instruction.
C10_ALWAYS_INLINE float multiply_add(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
C10_ALWAYS_INLINE double multiply_add(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// c0 + c1 x + c2 x^2 + ...
template <class T>
C10_ALWAYS_INLINE T polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
C10_ALWAYS_INLINE T polynomial(T x, T c0, Rest... rest) {
  return multiply_add(polynomial(x, static_cast<T>(rest)...), x, c0);
}

// Adding 1.5 * 2^23 (2^52) leaves no bits for a fraction: the sum is rounded to an integer, which
// is in its low bits.
inline constexpr float kRoundFloat = 0x1.8p23f;
inline constexpr double kRound = 0x1.8p52;

/// 2^k for the k in the low bits of a number that kRound was added to. k must be the exponent of a
/// normal number.
C10_ALWAYS_INLINE double exponential_of_rounded(double shifted) {
  return from_bits((bits_of(shifted) + 1023) << 52);
}

C10_ALWAYS_INLINE float copysign(float magnitude, float sign) {
  return __builtin_copysignf(magnitude, sign);
}
C10_ALWAYS_INLINE double copysign(double magnitude, double sign) {
  return __builtin_copysign(magnitude, sign);
}
C10_ALWAYS_INLINE float abs(float x) { return __builtin_fabsf(x); }
C10_ALWAYS_INLINE double abs(double x) { return __builtin_fabs(x); }
C10_ALWAYS_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
C10_ALWAYS_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
