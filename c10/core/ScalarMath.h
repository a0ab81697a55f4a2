// Arithmetic of Scalars, as derivative formulas write it: grad * (alpha * beta).
#pragma once
// Kinds promote as in Python: bool and int stay int except under division and mathematical
// functions; int < double < complex.
#include <cmath>
#include <complex>

#include "c10/core/Scalar.h"

namespace c10 {

namespace scalar_math {

inline Scalar from(std::complex<double> value) {
  return Scalar(c10::complex<double>(value.real(), value.imag()));
}
inline std::complex<double> to_std(const Scalar& value) {
  const auto number = value.to_complex_double();
  return {number.real(), number.imag()};
}

template <class Integer, class Other>
Scalar apply(const Scalar& a, const Scalar& b, Integer on_integers, Other on_others) {
  if (a.is_complex() || b.is_complex()) return from(on_others(to_std(a), to_std(b)));
  if (a.is_floating() || b.is_floating()) return Scalar(on_others(a.to_double(), b.to_double()));
  return Scalar(on_integers(a.to_long(), b.to_long()));
}

// Integers wrap around, as they do in tensors.
inline int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace scalar_math

inline Scalar operator+(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](uint64_t x, uint64_t y) { return scalar_math::wrapped(x + y); },
      [](auto x, auto y) { return x + y; });
}
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](uint64_t x, uint64_t y) { return scalar_math::wrapped(x - y); },
      [](auto x, auto y) { return x - y; });
}
inline Scalar operator*(const Scalar& a, const Scalar& b) {
  return scalar_math::apply(
      a, b, [](uint64_t x, uint64_t y) { return scalar_math::wrapped(x * y); },
      [](auto x, auto y) { return x * y; });
}
inline Scalar operator/(const Scalar& a, const Scalar& b) {
  if (a.is_complex() || b.is_complex())
    return scalar_math::from(scalar_math::to_std(a) / scalar_math::to_std(b));
  return Scalar(a.to_double() / b.to_double());
}

inline Scalar pow(const Scalar& base, const Scalar& exponent) {
  if (base.is_complex() || exponent.is_complex()) {
    return scalar_math::from(std::pow(scalar_math::to_std(base), scalar_math::to_std(exponent)));
  }
  return Scalar(std::pow(base.to_double(), exponent.to_double()));
}

#define C10_SCALAR_FUNCTION(name)                                                    \
  inline Scalar name(const Scalar& x) {                                              \
    if (x.is_complex()) return scalar_math::from(std::name(scalar_math::to_std(x))); \
    return Scalar(std::name(x.to_double()));                                         \
  }
C10_SCALAR_FUNCTION(exp)
C10_SCALAR_FUNCTION(log)
C10_SCALAR_FUNCTION(log10)
C10_SCALAR_FUNCTION(sqrt)
C10_SCALAR_FUNCTION(sin)
C10_SCALAR_FUNCTION(cos)
C10_SCALAR_FUNCTION(tan)
C10_SCALAR_FUNCTION(sinh)
C10_SCALAR_FUNCTION(cosh)
C10_SCALAR_FUNCTION(tanh)
#undef C10_SCALAR_FUNCTION

#define C10_REAL_SCALAR_FUNCTION(name) \
  inline Scalar name(const Scalar& x) { return Scalar(std::name(x.to_double())); }
C10_REAL_SCALAR_FUNCTION(exp2)
C10_REAL_SCALAR_FUNCTION(expm1)
C10_REAL_SCALAR_FUNCTION(log1p)
C10_REAL_SCALAR_FUNCTION(log2)
C10_REAL_SCALAR_FUNCTION(erf)
C10_REAL_SCALAR_FUNCTION(erfc)
C10_REAL_SCALAR_FUNCTION(floor)
C10_REAL_SCALAR_FUNCTION(ceil)
C10_REAL_SCALAR_FUNCTION(trunc)
#undef C10_REAL_SCALAR_FUNCTION

inline Scalar abs(const Scalar& x) {
  if (x.is_complex()) return Scalar(std::abs(scalar_math::to_std(x)));
  return x.is_floating() ? Scalar(std::abs(x.to_double()))
                         : Scalar(static_cast<int64_t>(std::abs(x.to_long())));
}
inline Scalar maximum(const Scalar& a, const Scalar& b) {
  return a.to_double() < b.to_double() ? b : a;
}
inline Scalar minimum(const Scalar& a, const Scalar& b) {
  return b.to_double() < a.to_double() ? b : a;
}

}  // namespace c10
