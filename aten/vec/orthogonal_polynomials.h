// Orthogonal polynomials by their three-term recurrences.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "aten/vec/arithmetic.h"

// The degree n is rounded towards zero, as in PyTorch; the result is 0 for n below 0. Not
// vectorised.

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// Larger degrees use the asymptotic form, so that no degree takes longer than milliseconds.
/// Counting by ones is exact up to here.
constexpr int64_t kLargestDegree = int64_t{1} << 22;

/// p_0 = 1, p_1 = first, p_{k+1} = step(x, k, p_k, p_{k-1}). Ends early once the value is infinite
/// or NaN. `limit` gives p_n for large n where the polynomials are bounded.
template <class T, class Step, class Limit>
AT_VEC_CALLED T polynomial_by_recurrence(T x, T n, T first, const Step& step, const Limit& limit) {
  if (!(n > T(-1))) return n != n ? n : T(0);
  if (n > static_cast<T>(kLargestDegree) && limit(x, n) == limit(x, n)) return limit(x, n);

  T before = T(1);
  T value = first;
  if (n < T(1)) return x != x ? x : before;

  const T last = n < static_cast<T>(kLargestDegree) ? n : static_cast<T>(kLargestDegree);
  for (T k = T(1); k + T(1) <= last && value - value == T(0); k += T(1)) {
    const T next = step(x, k, value, before);
    before = value;
    value = next;
  }

  return value;
}

/// For polynomials without a bounded form: the recurrence overflows long before the largest degree.
template <class T>
struct Unbounded {
  C10_HOST_DEVICE T operator()(T, T) const { return std::numeric_limits<T>::quiet_NaN(); }
};

/// Laplace and Heine's form of the Legendre polynomials.
template <class T>
AT_VEC_CALLED T legendre_limit(T x, T n) {
  if (std::abs(x) >= T(1))
    return x == T(1)    ? T(1)
           : x == T(-1) ? (std::fmod(n, T(2)) == T(0) ? T(1) : T(-1))
                        : Unbounded<T>()(x, n);

  const T angle = std::acos(x);
  const T pi = T(3.14159265358979323846);
  return std::sqrt(T(2) / (pi * n * std::sin(angle))) * std::cos((n + T(0.5)) * angle - pi / T(4));
}

/// Fejer's form of the Laguerre polynomials.
template <class T>
AT_VEC_CALLED T laguerre_limit(T x, T n) {
  if (!(x > T(0))) return x == T(0) ? T(1) : Unbounded<T>()(x, n);
  const T pi = T(3.14159265358979323846);
  return std::exp(x / T(2)) / (std::sqrt(pi) * std::sqrt(std::sqrt(x * n))) *
         std::cos(T(2) * std::sqrt(n * x) - pi / T(4));
}

/// Chebyshev polynomials by angles: cos(n t), sin((n + 1) t) / sin t, cos((n + 1/2) t) / cos(t /
/// 2), sin((n + 1/2) t) / sin(t / 2).
template <class T, char kind>
AT_VEC_CALLED T chebyshev_limit(T x, T n) {
  if (std::abs(x) > T(1)) return Unbounded<T>()(x, n);
  const T t = std::acos(x);
  const T whole = std::floor(n);
  const T sign = std::fmod(whole, T(2)) == T(0) ? T(1) : T(-1);

  if constexpr (kind == 't') return std::cos(whole * t);
  if constexpr (kind == 'u')
    return x == T(1)    ? whole + T(1)
           : x == T(-1) ? sign * (whole + T(1))
                        : std::sin((whole + T(1)) * t) / std::sin(t);
  if constexpr (kind == 'v')
    return x == T(-1) ? sign * (T(2) * whole + T(1))
                      : std::cos((whole + T(0.5)) * t) / std::cos(t / T(2));
  return x == T(1) ? T(2) * whole + T(1) : std::sin((whole + T(0.5)) * t) / std::sin(t / T(2));
}

/// The physicists' Hermite polynomials.
template <class T>
AT_VEC_CALLED T hermite_polynomial_h(T x, T n) {
  return polynomial_by_recurrence(
      x, n, T(2) * x, [](T v, T k, T p, T before) -> T { return T(2) * (v * p - k * before); },
      Unbounded<T>());
}

/// The probabilists' Hermite polynomials.
template <class T>
AT_VEC_CALLED T hermite_polynomial_he(T x, T n) {
  return polynomial_by_recurrence(
      x, n, x, [](T v, T k, T p, T before) -> T { return v * p - k * before; }, Unbounded<T>());
}

/// The Laguerre polynomials.
template <class T>
AT_VEC_CALLED T laguerre_polynomial_l(T x, T n) {
  return polynomial_by_recurrence(
      x, n, T(1) - x,
      [](T v, T k, T p, T before) -> T {
        return ((T(2) * k + T(1) - v) * p - k * before) / (k + T(1));
      },
      laguerre_limit<T>);
}

/// The Legendre polynomials.
template <class T>
AT_VEC_CALLED T legendre_polynomial_p(T x, T n) {
  return polynomial_by_recurrence(
      x, n, x,
      [](T v, T k, T p, T before) -> T {
        return ((T(2) * k + T(1)) * v * p - k * before) / (k + T(1));
      },
      legendre_limit<T>);
}

// The four kinds of Chebyshev polynomials differ only in degree 1.
template <class T>
AT_VEC_CALLED T chebyshev_polynomial_t(T x, T n) {
  return polynomial_by_recurrence(
      x, n, x, [](T v, T, T p, T before) -> T { return T(2) * v * p - before; },
      chebyshev_limit<T, 't'>);
}
template <class T>
AT_VEC_CALLED T chebyshev_polynomial_u(T x, T n) {
  return polynomial_by_recurrence(
      x, n, T(2) * x, [](T v, T, T p, T before) -> T { return T(2) * v * p - before; },
      chebyshev_limit<T, 'u'>);
}
template <class T>
AT_VEC_CALLED T chebyshev_polynomial_v(T x, T n) {
  return polynomial_by_recurrence(
      x, n, T(2) * x - T(1), [](T v, T, T p, T before) -> T { return T(2) * v * p - before; },
      chebyshev_limit<T, 'v'>);
}
template <class T>
AT_VEC_CALLED T chebyshev_polynomial_w(T x, T n) {
  return polynomial_by_recurrence(
      x, n, T(2) * x + T(1), [](T v, T, T p, T before) -> T { return T(2) * v * p - before; },
      chebyshev_limit<T, 'w'>);
}

// Shifted from [-1, 1] to [0, 1].
template <class T>
AT_VEC_CALLED T shifted_chebyshev_polynomial_t(T x, T n) {
  return chebyshev_polynomial_t(T(2) * x - T(1), n);
}
template <class T>
AT_VEC_CALLED T shifted_chebyshev_polynomial_u(T x, T n) {
  return chebyshev_polynomial_u(T(2) * x - T(1), n);
}
template <class T>
AT_VEC_CALLED T shifted_chebyshev_polynomial_v(T x, T n) {
  return chebyshev_polynomial_v(T(2) * x - T(1), n);
}
template <class T>
AT_VEC_CALLED T shifted_chebyshev_polynomial_w(T x, T n) {
  return chebyshev_polynomial_w(T(2) * x - T(1), n);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
