// Functions of complex numbers, from those of real ones: for devices, which lack the C library's.
#pragma once

#include "c10/util/complex.h"

// They treat signed zeros, infinities and NaN as C99's Annex G says, and are a few units in the
// last place off in either part. Complex numbers of floats are computed in double and rounded: this
// costs a GPU for servers nothing next to the memory, and float's range needs no special cases.
// tests/aten/test_complex_formulas.py compares them with the C library's.

// Called, not inlined: a kernel would contain each of them once for every element of a thread.
#ifdef __CUDACC__
#define C10_FORMULA C10_HOST_DEVICE inline __noinline__
#else
#define C10_FORMULA inline
#endif

namespace c10::formulas {

using complex128 = complex<double>;

inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kPi = 0x1.921fb54442d18p+1;
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// Squares of larger numbers may overflow, and those of the inverse vanish.
inline constexpr double kLarge = 1e150;
inline constexpr double kTiny = 1e-150;

C10_HOST_DEVICE inline double magnitude(double x) { return __builtin_fabs(x); }
C10_HOST_DEVICE inline double with_sign(double x, double sign) {
  return __builtin_copysign(x, sign);
}
C10_HOST_DEVICE inline bool is_nan(double x) { return x != x; }
C10_HOST_DEVICE inline bool is_infinite(double x) { return magnitude(x) == kInfinity; }
C10_HOST_DEVICE inline bool is_finite(double x) { return magnitude(x) < kInfinity; }
C10_HOST_DEVICE inline double not_a_number() { return __builtin_nan(""); }

// z times i and -i, exactly.
C10_HOST_DEVICE inline complex128 turned(complex128 z) { return {-z.imag_, z.real_}; }
C10_HOST_DEVICE inline complex128 turned_back(complex128 z) { return {z.imag_, -z.real_}; }

inline constexpr double kStep = 709.0;
inline constexpr double kExpOfStep = 0x1.d422d2be5dc9bp+1022;

/// exp(x) c, also where exp(x) alone overflows.
C10_HOST_DEVICE inline double exp_times(double x, double c) {
  if (x < kStep) return __builtin_exp(x) * c;
  return kExpOfStep * c * __builtin_exp(x - kStep);
}

/// exp(x) c / 2, which is sinh(x) c and cosh(x) c, for x >= kStep. Infinite only if that is.
C10_HOST_DEVICE inline double half_exp_times(double x, double c) {
  return 0.5 * kExpOfStep * c * __builtin_exp(x - kStep);
}

C10_FORMULA complex128 exp(complex128 z) {
  const double x = z.real_;
  const double y = z.imag_;
  if (y == 0.0) return {__builtin_exp(x), y};

  if (!is_finite(y)) {
    if (x == -kInfinity) return {0.0, 0.0};
    return {x == kInfinity ? x : not_a_number(), not_a_number()};
  }
  return {exp_times(x, __builtin_cos(y)), exp_times(x, __builtin_sin(y))};
}

/// x^2 + y^2 - 1 for x >= y >= 0 where x is near 1: the rounding errors of squares and sums are
/// added.
C10_HOST_DEVICE inline double norm_minus_one(double x, double y) {
  const double xx = x * x;
  const double yy = y * y;
  const double lost = __builtin_fma(x, x, -xx) + __builtin_fma(y, y, -yy);

  const double above = xx - 1.0;
  const double cut = xx - (above + 1.0);
  const double sum = above + yy;
  const double added = sum - above;
  return sum + (((above - (sum - added)) + (yy - added)) + (cut + lost));
}

/// log |z|
C10_HOST_DEVICE inline double log_abs(double x, double y) {
  const double larger = __builtin_fmax(magnitude(x), magnitude(y));
  const double smaller = __builtin_fmin(magnitude(x), magnitude(y));
  if (larger > 0.65 && larger < 1.25 && x == x && y == y)
    return 0.5 * __builtin_log1p(norm_minus_one(larger, smaller));

  // Scaled, where the modulus of a finite number is infinite or has few digits.
  if (larger > kLarge) return __builtin_log(__builtin_hypot(0.5 * x, 0.5 * y)) + kLn2;
  if (larger < kTiny && larger > 0.0)
    return __builtin_log(__builtin_hypot(0x1p500 * x, 0x1p500 * y)) - 500.0 * kLn2;
  return __builtin_log(__builtin_hypot(x, y));
}

C10_FORMULA complex128 log(complex128 z) {
  return {log_abs(z.real_, z.imag_), __builtin_atan2(z.imag_, z.real_)};
}

C10_FORMULA complex128 sqrt(complex128 z) {
  double x = z.real_;
  double y = z.imag_;
  if (x == 0.0 && y == 0.0) return {0.0, y};
  if (is_infinite(y)) return {kInfinity, y};
  if (x == kInfinity) return {x, is_nan(y) ? y : with_sign(0.0, y)};
  if (x == -kInfinity) return {is_nan(y) ? y : 0.0, with_sign(kInfinity, y)};

  // Scaled by 4 or its inverse, often, so that the sum below neither overflows nor loses digits.
  const double larger = __builtin_fmax(magnitude(x), magnitude(y));
  const double scale = larger > 0x1p1020 ? 0x1p-4 : larger < 0x1p-960 ? 0x1p108 : 1.0;
  const double unscale = larger > 0x1p1020 ? 0x1p2 : larger < 0x1p-960 ? 0x1p-54 : 1.0;
  x *= scale;
  y *= scale;

  const double root = __builtin_sqrt(0.5 * (magnitude(x) + __builtin_hypot(x, y)));
  const double other = y / (2.0 * root);
  if (x >= 0.0) return {root * unscale, other * unscale};
  return {magnitude(other) * unscale, with_sign(root, y) * unscale};
}

// Hyperbolic functions; the trigonometric ones are those of i z.

C10_FORMULA complex128 sinh(complex128 z) {
  const double x = z.real_;
  const double y = z.imag_;
  if (y == 0.0) return {__builtin_sinh(x), y};
  if (!is_finite(y)) return {x == 0.0 || is_infinite(x) ? x : not_a_number(), not_a_number()};

  const double cosine = __builtin_cos(y);
  const double sine = __builtin_sin(y);
  if (magnitude(x) < kStep) return {__builtin_sinh(x) * cosine, __builtin_cosh(x) * sine};
  return {with_sign(1.0, x) * half_exp_times(magnitude(x), cosine),
          half_exp_times(magnitude(x), sine)};
}

C10_FORMULA complex128 cosh(complex128 z) {
  const double x = z.real_;
  const double y = z.imag_;
  const double zero = with_sign(0.0, x) * with_sign(1.0, y);
  if (y == 0.0) return {__builtin_cosh(x), zero};
  if (!is_finite(y)) {
    if (x == 0.0) return {not_a_number(), zero};
    return {is_infinite(x) ? kInfinity : not_a_number(), not_a_number()};
  }

  const double cosine = __builtin_cos(y);
  const double sine = __builtin_sin(y);
  if (magnitude(x) < kStep) return {__builtin_cosh(x) * cosine, __builtin_sinh(x) * sine};
  return {half_exp_times(magnitude(x), cosine),
          with_sign(1.0, x) * half_exp_times(magnitude(x), sine)};
}

/// Kahan's formula: with t = tan y and s = sinh x, no two terms cancel.
C10_FORMULA complex128 tanh(complex128 z) {
  const double x = z.real_;
  const double y = z.imag_;
  if (is_infinite(x)) {
    const double sign = is_finite(y) ? __builtin_sin(2.0 * y) : 1.0;
    return {with_sign(1.0, x), with_sign(0.0, y == 0.0 || !is_finite(y) ? y : sign)};
  }
  if (!is_finite(y)) return {x == 0.0 ? x : not_a_number(), not_a_number()};
  if (y == 0.0) return {__builtin_tanh(x), y};

  if (magnitude(x) > 22.0) {
    const double e = __builtin_exp(-magnitude(x));
    return {with_sign(1.0, x), 4.0 * __builtin_sin(y) * __builtin_cos(y) * e * e};
  }

  const double t = __builtin_tan(y);
  const double s = __builtin_sinh(x);
  const double secant = 1.0 + t * t;
  const double denominator = 1.0 + secant * s * s;
  return {secant * __builtin_sqrt(1.0 + s * s) * s / denominator, t / denominator};
}

C10_HOST_DEVICE inline complex128 sin(complex128 z) { return turned_back(sinh(turned(z))); }
C10_HOST_DEVICE inline complex128 cos(complex128 z) { return cosh(turned(z)); }
C10_HOST_DEVICE inline complex128 tan(complex128 z) { return turned_back(tanh(turned(z))); }

// Inverse functions, after Hull, Fairgrieve and Tang (1997): for z = x + i y in the first quadrant,
// r and s are its distances from -1 and 1, a their mean; x / a is the sine of the real part.

struct InverseSine {
  double angle;       // the real part of asin z, with `complement` = pi/2 - angle
  double complement;  // the real part of acos z
  double height;      // the imaginary part of asin z
};

/// The tangent of the angle is x / result.
C10_HOST_DEVICE inline double adjacent_side(double x, double y, double r, double s, double a) {
  const double sum = a + x;
  if (x <= 1.0) return __builtin_sqrt(0.5 * sum * (y * y / (r + x + 1.0) + (s + (1.0 - x))));
  return y * __builtin_sqrt(0.5 * (sum / (r + x + 1.0) + sum / (s + (x - 1.0))));
}

/// log(a + sqrt(a^2 - 1)), with a - 1 from terms that do not cancel.
C10_HOST_DEVICE inline double inverse_sine_height(double x, double y, double r, double s,
                                                  double a) {
  if (a > 1.5) return __builtin_log(a + __builtin_sqrt((a - 1.0) * (a + 1.0)));
  if (x < 1.0 && y < kTiny) return y / __builtin_sqrt((1.0 - x) * (1.0 + x));

  const double square = y * y;
  const double near = x < 1.0 ? square / (s + (1.0 - x)) : s + (x - 1.0);
  const double excess = 0.5 * (square / (r + (x + 1.0)) + near);
  return __builtin_log1p(excess + __builtin_sqrt(excess * (a + 1.0)));
}

C10_FORMULA InverseSine inverse_sine(double x, double y) {
  if (x > kLarge || y > kLarge) {
    const double height = __builtin_log(__builtin_hypot(0.5 * x, 0.5 * y)) + 2.0 * kLn2;
    return {__builtin_atan2(x, y), __builtin_atan2(y, x), height};
  }

  const double r = __builtin_hypot(x + 1.0, y);
  const double s = __builtin_hypot(x - 1.0, y);
  const double a = 0.5 * (r + s);
  const double sine = x / a;
  const double height = inverse_sine_height(x, y, r, s, a);
  if (sine <= 0.64) return {__builtin_asin(sine), __builtin_acos(sine), height};

  const double adjacent = adjacent_side(x, y, r, s, a);
  return {__builtin_atan2(x, adjacent), __builtin_atan2(adjacent, x), height};
}

C10_FORMULA complex128 asin(complex128 z) {
  if (z.real_ == 0.0 && is_nan(z.imag_)) return z;
  const InverseSine found = inverse_sine(magnitude(z.real_), magnitude(z.imag_));
  return {with_sign(found.angle, z.real_), with_sign(found.height, z.imag_)};
}

C10_FORMULA complex128 acos(complex128 z) {
  if (z.real_ == 0.0 && is_nan(z.imag_)) return {kHalfPi, z.imag_};
  const InverseSine found = inverse_sine(magnitude(z.real_), magnitude(z.imag_));
  const bool is_left = __builtin_signbit(z.real_);
  return {is_left ? kPi - found.complement : found.complement, with_sign(found.height, -z.imag_)};
}

C10_HOST_DEVICE inline complex128 asinh(complex128 z) { return turned(asin(turned_back(z))); }

C10_HOST_DEVICE inline complex128 acosh(complex128 z) {
  const complex128 angle = acos(z);
  return {magnitude(angle.imag_), with_sign(angle.real_, z.imag_)};
}

C10_FORMULA complex128 atanh(complex128 z) {
  const double x = magnitude(z.real_);
  const double y = magnitude(z.imag_);
  if (x > kLarge || y > kLarge) {
    // The real part of 1 / z, from quotients that do not overflow.
    const double inverse = x > y ? 1.0 / (x + y / x * y) : x / y / (y + x / y * x);
    const double real = is_infinite(x) || is_infinite(y) ? 0.0 : inverse;
    const bool is_unknown = is_nan(y) || (is_nan(x) && is_finite(y));
    return {with_sign(real, z.real_), with_sign(is_unknown ? not_a_number() : kHalfPi, z.imag_)};
  }
  if (x == 0.0 && is_nan(y)) return z;

  const double rest = 1.0 - x;
  const double real = x == 1.0 && y < kTiny
                          ? 0.5 * (kLn2 - __builtin_log(y))
                          : 0.25 * __builtin_log1p(4.0 * x / (rest * rest + y * y));
  const double imag = 0.5 * __builtin_atan2(2.0 * y, rest * (1.0 + x) - y * y);
  return {with_sign(real, z.real_), with_sign(imag, z.imag_)};
}

C10_HOST_DEVICE inline complex128 atan(complex128 z) { return turned_back(atanh(turned(z))); }

}  // namespace c10::formulas
