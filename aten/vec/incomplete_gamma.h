// The regularised incomplete gamma functions P and Q = 1 - P.
#pragma once

#include "aten/vec/arithmetic.h"
#include "aten/vec/error_function.h"

// P(a, x) belongs to the integral from 0 to x. Not vectorised.

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// m - log(1 + m), which is m^2 / 2 for small m.
AT_VEC_CALLED double log1p_deficit(double m) {
  if (abs(m) > 0.3) return m - __builtin_log1p(m);

  double sum = 0.0;
  double power = m * m;
  for (int k = 2; k < 40; ++k) {
    const double term = power / k;
    sum += term;
    if (abs(term) < 0x1p-54 * abs(sum)) break;
    power *= -m;
  }

  return sum;
}

/// x^a exp(-x) / Gamma(a). For large a it uses Stirling's series, so that no large numbers are
/// subtracted.
AT_VEC_CALLED double gamma_density(double a, double x) {
  if (a < 20.0) return __builtin_exp(a * __builtin_log(x) - x - __builtin_lgamma(a));

  const double inverse = 1.0 / a;
  const double square = inverse * inverse;
  const double stirling =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680))));
  return sqrt(a * 0x1.45f306dc9c883p-3) * __builtin_exp(-a * log1p_deficit((x - a) / a) - stirling);
}

/// log(Gamma(1 + a)) for small a: -Euler's constant a + zeta(2) a^2 / 2 - ...
AT_VEC_CALLED double lgamma1p(double a) {
  if (abs(a) > 0.01) return __builtin_lgamma(1.0 + a);
  return a * (-0.5772156649015329 +
              a * (0.8224670334241132 +
                   a * (-0.40068563438653143 +
                        a * (0.27058080842778454 +
                             a * (-0.20738555102867398 +
                                  a * (0.1695571769974082 +
                                       a * (-0.1440498967688461 + a * 0.12550966952474304)))))));
}

/// P(a, x) by its power series, for x below about a + 1.
AT_VEC_CALLED double lower_gamma_series(double a, double x) {
  double sum = 1.0;
  double term = 1.0;
  for (int k = 1; k < 100000; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < 0x1p-54 * sum) break;
  }
  return sum * gamma_density(a, x) / a;
}

/// Q(a, x) by its continued fraction (Lentz's method), for x above about a.
AT_VEC_CALLED double upper_gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - a;
  double c = 1.0 / kTiny;
  double d = 1.0 / (b == 0.0 ? kTiny : b);
  double value = d;

  for (int k = 1; k < 100000; ++k) {
    const double numerator = -k * (k - a);
    b += 2.0;
    d = numerator * d + b;
    c = b + numerator / c;
    d = 1.0 / (d == 0.0 ? kTiny : d);
    c = c == 0.0 ? kTiny : c;

    const double factor = d * c;
    value *= factor;
    if (abs(factor - 1.0) < 0x1p-52) break;
  }

  return value * gamma_density(a, x);
}

/// Q(a, x) for small x, where it is not a difference of numbers close to 1.
AT_VEC_CALLED double upper_gamma_series(double a, double x) {
  double sum = 0.0;
  double factor = 1.0;
  for (int k = 1; k < 1000; ++k) {
    factor *= -x / k;
    const double term = factor / (a + k);
    sum += term;
    if (abs(term) <= 0x1p-54 * abs(sum)) break;
  }

  const double logarithm = __builtin_log(x);
  return -__builtin_expm1(a * logarithm - lgamma1p(a)) -
         a * __builtin_exp(a * logarithm - lgamma1p(a)) * sum;
}

/// Q(a, x) for huge a: the normal distribution in the variable that makes the density normal (Temme
/// 1979), with its first correction term.
AT_VEC_CALLED double upper_gamma_normal(double a, double x) {
  const double m = (x - a) / a;
  const double deficit = log1p_deficit(m);
  const double eta = copysign(sqrt(2.0 * deficit), m);
  const double correction = abs(m) < 1e-4 ? -1.0 / 3 + m / 12 : 1.0 / m - 1.0 / eta;
  const double density = __builtin_exp(-a * deficit) * 0x1.9884533d43651p-2 / sqrt(a);
  return 0.5 * __builtin_erfc(eta * sqrt(0.5 * a)) + density * correction;
}

/// Sets `upper` to Q at the limits of the domain: 0 or 1, or NaN outside of a >= 0, x >= 0 and at
/// (0, 0). Returns false inside the domain.
AT_VEC_CALLED bool has_gamma_limit(double a, double x, double* upper) {
  if (!(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) || (a == kInfinity && x == kInfinity)) {
    *upper = __builtin_nan("");
  } else if (a == 0.0 || x == kInfinity) {
    *upper = 0.0;
  } else if (x == 0.0 || a == kInfinity) {
    *upper = 1.0;
  } else {
    return false;
  }
  return true;
}

constexpr double kHugeShape = 1e7;  // from here on, the normal distribution

AT_VEC_CALLED double gammaincc(double a, double x) {
  double limit;
  if (has_gamma_limit(a, x, &limit)) return limit;
  if (a > kHugeShape) return upper_gamma_normal(a, x);
  if (x > 1.1) return x < a ? 1.0 - lower_gamma_series(a, x) : upper_gamma_fraction(a, x);
  const bool is_lower_small = x <= 0.5 ? -0.4 / __builtin_log(x) < a : x * 1.1 < a;
  return is_lower_small ? 1.0 - lower_gamma_series(a, x) : upper_gamma_series(a, x);
}
AT_VEC_CALLED double gammainc(double a, double x) {
  double limit;
  if (has_gamma_limit(a, x, &limit)) return 1.0 - limit;
  if (a > kHugeShape) return 1.0 - upper_gamma_normal(a, x);
  return x > 1.0 && x > a ? 1.0 - upper_gamma_fraction(a, x) : lower_gamma_series(a, x);
}
AT_VEC_CALLED float gammainc(float a, float x) {
  return static_cast<float>(gammainc(static_cast<double>(a), static_cast<double>(x)));
}
AT_VEC_CALLED float gammaincc(float a, float x) {
  return static_cast<float>(gammaincc(static_cast<double>(a), static_cast<double>(x)));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
