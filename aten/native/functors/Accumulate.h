// How values that indices send to one element are combined.
#pragma once
#include "aten/Dispatch.h"
#include "aten/vec/wrapping.h"

namespace at::native {
namespace {

/// Adds multiples of values. float16 and bfloat16 are summed in float and rounded once.
template <class T>
struct AddMultiple {
  using acc_t = opmath_type<T>;
  acc_t factor;
  bool scales;  // unless the factor is 1

  C10_HOST_DEVICE acc_t operator()(acc_t sum, T value) const {
    const auto term = static_cast<acc_t>(value);
    return static_cast<acc_t>(vec::wrapping_sum(
        sum, scales ? static_cast<acc_t>(vec::wrapping_product(term, factor)) : term));
  }

  // Long sequences of values are combined in parts.
  C10_HOST_DEVICE acc_t first(T value) const { return (*this)(acc_t(0), value); }
  C10_HOST_DEVICE acc_t combine(acc_t a, acc_t b) const {
    return static_cast<acc_t>(vec::wrapping_sum(a, b));
  }
};

template <class T>
struct Multiply {
  using acc_t = T;
  C10_HOST_DEVICE T operator()(T product, T value) const {
    return static_cast<T>(vec::wrapping_product(product, value));
  }
  C10_HOST_DEVICE T first(T value) const { return value; }
  C10_HOST_DEVICE T combine(T a, T b) const { return (*this)(a, b); }
};

/// The extremum of NaN and any number is NaN.
template <class T>
struct TakeExtremum {
  using acc_t = T;
  bool largest;

  C10_HOST_DEVICE T operator()(T a, T b) const {
    if (a != a || b != b) return a != a ? a : b;
    return (a < b) == largest ? b : a;
  }
  C10_HOST_DEVICE T first(T value) const { return value; }
  C10_HOST_DEVICE T combine(T a, T b) const { return (*this)(a, b); }
};

}  // namespace
}  // namespace at::native
