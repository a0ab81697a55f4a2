#pragma once

#include "aten/vec/arithmetic.h"

// Orthogonal polynomials of degree n (rounded towards zero; 0 below 0) by their three-term recurrences. Not vectorised.

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// p_0 = 1, p_1 = first, p_{k+1} = step(x, k, p_k, p_{k-1}); ends early once that is infinite or nan.
template <class T, class Step>
inline T polynomial_by_recurrence(T x, T n, T first, const Step& step) {
  if (!(n >= T(0))) return n != n ? n : T(0);
  T before = T(1), value = first;
  if (n < T(1)) return x != x ? x : before;
  for (T k = T(1); k + T(1) <= n && value - value == T(0); k += T(1)) {
    const T next = step(x, k, value, before);
    before = value;
    value = next;
  }
  return value;
}

/// The physicists' Hermite polynomials.
template <class T>
inline T hermite_polynomial_h(T x, T n) {
  return polynomial_by_recurrence(x, n, T(2) * x, [](T v, T k, T p, T before) -> T { return T(2) * (v * p - k * before); });
}
/// The probabilists' Hermite polynomials.
template <class T>
inline T hermite_polynomial_he(T x, T n) {
  return polynomial_by_recurrence(x, n, x, [](T v, T k, T p, T before) -> T { return v * p - k * before; });
}
/// Laguerre's polynomials.
template <class T>
inline T laguerre_polynomial_l(T x, T n) {
  return polynomial_by_recurrence(x, n, T(1) - x,
                                  [](T v, T k, T p, T before) -> T { return ((T(2) * k + T(1) - v) * p - k * before) / (k + T(1)); });
}
/// Legendre's polynomials.
template <class T>
inline T legendre_polynomial_p(T x, T n) {
  return polynomial_by_recurrence(x, n, x,
                                  [](T v, T k, T p, T before) -> T { return ((T(2) * k + T(1)) * v * p - k * before) / (k + T(1)); });
}
// Chebyshev's four kinds differ in their first degree only.
template <class T>
inline T chebyshev_polynomial_t(T x, T n) {
  return polynomial_by_recurrence(x, n, x, [](T v, T, T p, T before) -> T { return T(2) * v * p - before; });
}
template <class T>
inline T chebyshev_polynomial_u(T x, T n) {
  return polynomial_by_recurrence(x, n, T(2) * x, [](T v, T, T p, T before) -> T { return T(2) * v * p - before; });
}
template <class T>
inline T chebyshev_polynomial_v(T x, T n) {
  return polynomial_by_recurrence(x, n, T(2) * x - T(1), [](T v, T, T p, T before) -> T { return T(2) * v * p - before; });
}
template <class T>
inline T chebyshev_polynomial_w(T x, T n) {
  return polynomial_by_recurrence(x, n, T(2) * x + T(1), [](T v, T, T p, T before) -> T { return T(2) * v * p - before; });
}
// Shifted from [-1, 1] to [0, 1].
template <class T>
inline T shifted_chebyshev_polynomial_t(T x, T n) {
  return chebyshev_polynomial_t(T(2) * x - T(1), n);
}
template <class T>
inline T shifted_chebyshev_polynomial_u(T x, T n) {
  return chebyshev_polynomial_u(T(2) * x - T(1), n);
}
template <class T>
inline T shifted_chebyshev_polynomial_v(T x, T n) {
  return chebyshev_polynomial_v(T(2) * x - T(1), n);
}
template <class T>
inline T shifted_chebyshev_polynomial_w(T x, T n) {
  return chebyshev_polynomial_w(T(2) * x - T(1), n);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
