#pragma once
// Steps of logcumsumexp and of its derivatives. Results are double or complex, as rounding errors
// stay in them to the end.
#include <cmath>
#include <limits>
#include <type_traits>

#include "c10/util/Export.h"

namespace at::native {
namespace {

/// log(exp(sum) + exp(x)).
C10_HOST_DEVICE inline double add_exponential(double sum, double x) {
  if (sum != sum || x != x) return sum + x;
  const double high = sum < x ? x : sum;
  const double low = sum < x ? sum : x;
  if (high == low && high - low != 0) return high;  // infinities
  return high + std::log1p(std::exp(low - high));
}

template <class Complex>
C10_HOST_DEVICE Complex add_exponential(const Complex& sum, const Complex& x) {
  if (sum.real() == -std::numeric_limits<double>::infinity()) return x;

  const bool is_larger = x.real() > sum.real();
  const Complex& high = is_larger ? x : sum;
  const Complex& low = is_larger ? sum : x;
  return high + log(1.0 + exp(low - high));
}

/// exp(a - b) for two running results: 1 for equal infinities, and 0 if only `a` is -inf, which is
/// the logarithm of a sum of zeros.
C10_HOST_DEVICE inline double exponential_ratio(double a, double b) {
  if (a == -std::numeric_limits<double>::infinity()) return a == b ? 1 : 0;
  return a == b ? 1 : std::exp(a - b);
}

template <class Complex>
C10_HOST_DEVICE Complex exponential_ratio(const Complex& a, const Complex& b) {
  return exp(a - b);
}

/// exp(a - b), the share of the element `a` in the running result `b`; 0 for an element of -inf.
C10_HOST_DEVICE inline double exponential_share(double a, double b) {
  return a == -std::numeric_limits<double>::infinity() ? 0 : std::exp(a - b);
}

template <class Complex>
C10_HOST_DEVICE Complex exponential_share(const Complex& a, const Complex& b) {
  return exp(a - b);
}

}  // namespace
}  // namespace at::native
