#include "c10/core/ScalarMath.h"

#include <cmath>
#include <complex>

namespace c10 {

namespace {

using Complex = std::complex<double>;

Complex complex_of(const Scalar& x) {
  const auto value = x.to_complex_double();
  return {value.real(), value.imag()};
}

Scalar scalar_of(Complex value) { return Scalar(c10::complex<double>(value.real(), value.imag())); }

/// Applies `op` in the widest kind of both numbers; bool counts as int.
template <typename Op>
Scalar combine(const Scalar& a, const Scalar& b, const Op& op) {
  if (a.is_complex() || b.is_complex()) return scalar_of(op(complex_of(a), complex_of(b)));
  if (a.is_floating() || b.is_floating()) return Scalar(op(a.to_double(), b.to_double()));
  // Unsigned: overflow wraps instead of being undefined.
  return Scalar(static_cast<int64_t>(op(static_cast<uint64_t>(a.to_long()), static_cast<uint64_t>(b.to_long()))));
}

template <typename Op>
Scalar transform(const Scalar& x, const Op& op) {
  return x.is_complex() ? scalar_of(op(complex_of(x))) : Scalar(op(x.to_double()));
}

}  // namespace

Scalar operator+(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return x + y; });
}
Scalar operator-(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return x - y; });
}
Scalar operator*(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return x * y; });
}
Scalar operator/(const Scalar& a, const Scalar& b) {
  if (a.is_complex() || b.is_complex()) return scalar_of(complex_of(a) / complex_of(b));
  return Scalar(a.to_double() / b.to_double());
}
Scalar pow(const Scalar& base, const Scalar& exponent) {
  if (base.is_complex() || exponent.is_complex()) return scalar_of(std::pow(complex_of(base), complex_of(exponent)));
  return Scalar(std::pow(base.to_double(), exponent.to_double()));
}
Scalar exp(const Scalar& x) {
  return transform(x, [](auto value) { return std::exp(value); });
}
Scalar log(const Scalar& x) {
  return transform(x, [](auto value) { return std::log(value); });
}
Scalar sqrt(const Scalar& x) {
  return transform(x, [](auto value) { return std::sqrt(value); });
}

}  // namespace c10
