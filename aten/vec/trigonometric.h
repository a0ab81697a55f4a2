// Trigonometric functions and their inverses.
#pragma once

#include "aten/vec/arithmetic.h"
#include "aten/vec/core.h"
#include "aten/vec/device_math.h"
#include "aten/vec/two_over_pi.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

inline constexpr double kPi = 0x1.921fb54442d18p+1;
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;

namespace wide {

/// x = (quadrant + fraction) * pi/2 with |fraction| <= 1/2, up to whole turns. Exact enough for
/// every finite float.
struct Angle {
  uint64_t quadrant;  // in the low two bits
  double fraction;
};

C10_ALWAYS_INLINE Angle reduce_angle(float x) {
  // Below 2^25 all rows are the same, and above it, adding 1 does not change the exponent. A select
  // would be clearer, but g++ would turn it into a branch around the look-up. The index is as wide
  // as the elements; otherwise g++ does not vectorise it.
  const uint64_t exponent = bits_of(1.0 + abs(static_cast<double>(x))) >> 52;
  const uint64_t row = (exponent + 1) % kTwoOverPiRows;  // 1023 -> 0; infinities and NaN -> 0

  const double wide_x = x;
  const double high = wide_x * kTwoOverPiHigh[row];
  const double low = wide_x * kTwoOverPiLow[row];
  const double shifted = (high + low) + kRound;
  return {bits_of(shifted), (high - (shifted - kRound)) + low};
}

/// sin(fraction * pi/2) and cos(fraction * pi/2)
C10_ALWAYS_INLINE double sin_quadrant(double fraction) {
  const double p = polynomial(fraction * fraction, 0x1.921fb54442cfap+0, -0x1.4abbce6257a19p-1,
                              0x1.466bc671228f6p-4, -0x1.32d2c6436dae5p-8, 0x1.5071cd6ec674bp-13,
                              -0x1.dd54192f33bf9p-19);
  return fraction * p;
}
C10_ALWAYS_INLINE double cos_quadrant(double fraction) {
  const double square = fraction * fraction;
  const double p =
      polynomial(square, -0x1.3bd3cc9be45a5p+0, 0x1.03c1f081b149ap-2, -0x1.55d3c7dcb3119p-6,
                 0x1.e1f4fbf8c6ca8p-11, -0x1.a6c9fef7726f6p-16, 0x1.f3eea8aa650cap-22);
  return multiply_add(square, p, 1.0);
}

/// The sine of the angle plus `quarters` right angles.
C10_ALWAYS_INLINE double sin_of(Angle angle, uint64_t quarters) {
  const uint64_t quadrant = angle.quadrant + quarters;
  const double sine = sin_quadrant(angle.fraction);
  const double cosine = cos_quadrant(angle.fraction);
  const double value = quadrant & 1 ? cosine : sine;
  return from_bits(bits_of(value) ^ ((quadrant & 2) << 62));
}

/// atan(t) for 0 <= t <= 1, relative error 2^-33; asin(t) for 0 <= t <= 1/2.
C10_ALWAYS_INLINE double atan_reduced(double t) {
  const double square = t * t;
  const double p = polynomial(square, -0x1.555554873c737p-2, 0x1.999937f1b2659p-3,
                              -0x1.248a2ca7abc21p-3, 0x1.c66e4c604ef8ap-4, -0x1.700b22d0ba73dp-4,
                              0x1.2958a9040defep-4, -0x1.be9804b5c4398p-5, 0x1.1a6cd8e53673fp-5,
                              -0x1.0b0c64dde16f4p-6, 0x1.42d9c63dc0a01p-8, -0x1.6ded18153c759p-11);
  return multiply_add(square * t, p, t);
}
C10_ALWAYS_INLINE double asin_reduced(double t) {
  const double square = t * t;
  const double p = polynomial(square, 0x1.55555605cdc13p-3, 0x1.3332aa05e4d44p-4,
                              0x1.6ddabff563631p-5, 0x1.ed5d16f76429fp-6, 0x1.931f9c9ad1d3ap-6,
                              0x1.ec2475ca840f3p-8, 0x1.1bd28e0c39edbp-5);
  return multiply_add(square * t, p, t);
}
/// asin(t) with t = |x| up to 1/2 and t = sqrt((1 - |x|) / 2), the sine of half the complement,
/// above.
C10_ALWAYS_INLINE double half_angle(double magnitude) {
  return asin_reduced(magnitude <= 0.5 ? magnitude : sqrt(0.5 * (1.0 - magnitude)));
}

}  // namespace wide

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)

// Functions of double, at most 1.5 units in the last place off.
namespace precise {

/// x = quadrant * pi/2 + high + low with |high| <= pi/4, for |x| up to kLargestAngle.
struct Angle {
  uint64_t quadrant;  // in the low two bits
  double high;
  double low;
};
inline constexpr double kLargestAngle = 0x1p30;

C10_ALWAYS_INLINE Angle reduce_angle(double x) {
  const double shifted = multiply_add(x, 0x1.45f306dc9c883p-1, kRound);
  const double k = shifted - kRound;

  // pi/2 in three parts. x less k times the first is exact, k times the second is product + error.
  constexpr double kSecond = 0x1.1a62633145c07p-54, kThird = -0x1.f1976b7ed8fbcp-110;
  const double rest = multiply_add(k, -kHalfPi, x);
  const double product = k * kSecond;
  const double error = multiply_add(k, kSecond, -product);

  const double high = rest - product;
  const double change = high - rest;
  const double lost = (rest - (high - change)) - (product + change);
  return {bits_of(shifted), high, lost + multiply_add(k, -kThird, -error)};
}

C10_ALWAYS_INLINE double sin_of(double high, double low) {
  const double square = high * high;
  const double p =
      polynomial(square, -0x1.5555555555548p-3, 0x1.111111110f7c9p-7, -0x1.a01a019bfcee6p-13,
                 0x1.71de3566eb83cp-19, -0x1.ae5e59d55071fp-26, 0x1.5d8f99481863bp-33);
  return high + multiply_add(square * high, p, low);
}
C10_ALWAYS_INLINE double cos_of(double high, double low) {
  const double square = high * high;
  const double p =
      polynomial(square, 0x1.555555555554bp-5, -0x1.6c16c16c14f89p-10, 0x1.a01a019c83757p-16,
                 -0x1.27e4f7ea21e96p-22, 0x1.1ee9d742dacb8p-29, -0x1.8fa45d5a5d661p-37);

  // 1 - square / 2, with what rounding took from it, and the smaller terms.
  const double half = 0.5 * square;
  const double first = 1.0 - half;
  const double lost = (1.0 - first) - half;
  return first + (lost + multiply_add(square * square, p, -high * low));
}

/// The sine of x plus `quarters` right angles, for |x| up to kLargestAngle.
C10_ALWAYS_INLINE double sin_of_moderate(double x, uint64_t quarters) {
  const Angle angle = reduce_angle(x);
  const uint64_t quadrant = angle.quadrant + quarters;
  const double sine = sin_of(angle.high, angle.low);
  const double cosine = cos_of(angle.high, angle.low);
  const double value = quadrant & 1 ? cosine : sine;
  return from_bits(bits_of(value) ^ ((quadrant & 2) << 62));
}

/// `moderate`, or the C library's value for a large x. Vectors call these functions for all their
/// elements at once.
AT_VEC_CALLED_WITH_VECTORS double sin_unless_large(double x, double moderate) {
  return abs(x) <= kLargestAngle ? moderate : __builtin_sin(x);
}
AT_VEC_CALLED_WITH_VECTORS double cos_unless_large(double x, double moderate) {
  return abs(x) <= kLargestAngle ? moderate : __builtin_cos(x);
}

C10_ALWAYS_INLINE double sin(double x) {
  const double moderate = sin_of_moderate(x, 0);
  return sin_unless_large(x, x == 0.0 ? x : moderate);  // keeps the sign of zero
}
C10_ALWAYS_INLINE double cos(double x) { return cos_unless_large(x, sin_of_moderate(x, 1)); }

}  // namespace precise

#else

namespace precise {

C10_ALWAYS_INLINE double sin(double x) { return __builtin_sin(x); }
C10_ALWAYS_INLINE double cos(double x) { return __builtin_cos(x); }

}  // namespace precise

#endif

C10_ALWAYS_INLINE float sin(float x) {
  AT_VEC_ON_DEVICE(::sinf(x));
  return static_cast<float>(wide::sin_of(wide::reduce_angle(x), 0));
}
C10_ALWAYS_INLINE double sin(double x) {
  AT_VEC_ON_DEVICE(::sin(x));
  return precise::sin(x);
}
C10_ALWAYS_INLINE float cos(float x) {
  AT_VEC_ON_DEVICE(::cosf(x));
  return static_cast<float>(wide::sin_of(wide::reduce_angle(x), 1));
}
C10_ALWAYS_INLINE double cos(double x) {
  AT_VEC_ON_DEVICE(::cos(x));
  return precise::cos(x);
}

C10_ALWAYS_INLINE float tan(float x) {
  const wide::Angle angle = wide::reduce_angle(x);
  const double sine = wide::sin_quadrant(angle.fraction);
  const double cosine = wide::cos_quadrant(angle.fraction);
  const bool odd = angle.quadrant & 1;
  const double tangent = (odd ? -cosine : sine) / (odd ? sine : cosine);
  return static_cast<float>(tangent);
}
C10_ALWAYS_INLINE double tan(double x) { return __builtin_tan(x); }

C10_ALWAYS_INLINE float asin(float x) {
  AT_VEC_ON_DEVICE(::asinf(x));
  const double magnitude = abs(x);
  const double angle = wide::half_angle(magnitude);
  return copysign(static_cast<float>(magnitude <= 0.5 ? angle : kHalfPi - 2.0 * angle), x);
}
C10_ALWAYS_INLINE double asin(double x) { return __builtin_asin(x); }

C10_ALWAYS_INLINE float acos(float x) {
  AT_VEC_ON_DEVICE(::acosf(x));
  const double magnitude = abs(x);
  const double angle = wide::half_angle(magnitude);
  const double outer = x < 0.0f ? kPi - 2.0 * angle : 2.0 * angle;
  const double inner = x < 0.0f ? kHalfPi + angle : kHalfPi - angle;
  return static_cast<float>(magnitude <= 0.5 ? inner : outer);
}
C10_ALWAYS_INLINE double acos(double x) { return __builtin_acos(x); }

C10_ALWAYS_INLINE float atan(float x) {
  AT_VEC_ON_DEVICE(::atanf(x));
  const double magnitude = abs(x);
  const double angle = wide::atan_reduced(magnitude > 1.0 ? 1.0 / magnitude : magnitude);
  return copysign(static_cast<float>(magnitude > 1.0 ? kHalfPi - angle : angle), x);
}
C10_ALWAYS_INLINE double atan(double x) { return __builtin_atan(x); }

/// The angle of the point (x, y), in [-pi, pi], with C's conventions for signed zeros and
/// infinities.
C10_ALWAYS_INLINE float atan2(float y, float x) {
  const double ax = abs(x);
  const double ay = abs(y);
  const double larger = ax > ay ? ax : ay;
  const double smaller = ax > ay ? ay : ax;

  double ratio = smaller / larger;
  ratio = larger == 0.0 ? 0.0 : ratio;
  ratio = smaller == kInfinity ? 1.0 : ratio;

  double angle = wide::atan_reduced(ratio);
  angle = ay > ax ? kHalfPi - angle : angle;
  angle = signbit(x) ? kPi - angle : angle;

  const float result = copysign(static_cast<float>(angle), y);
  return x != x || y != y ? x + y : result;
}
C10_ALWAYS_INLINE double atan2(double y, double x) { return __builtin_atan2(y, x); }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
