#pragma once
// Products and quotients of a float16 or bfloat16 tensor and a number.
#include <optional>
#include <type_traits>

#include "c10/core/ScalarType.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

/// Op in the arithmetic type, rounded once.
template <class T, class Op>
struct Rounded {
  template <class V>
  C10_HOST_DEVICE V computed(V a, V b) const {
    return Op()(a, b);
  }
  C10_HOST_DEVICE T operator()(T a, T b) const {
    using opmath_t = opmath_type<T>;
    return static_cast<T>(computed(static_cast<opmath_t>(a), static_cast<opmath_t>(b)));
  }
};

/// The same with a number as the second operand.
template <class T, class Op>
struct RoundedWithNumber {
  float number;

  template <class V>
  C10_HOST_DEVICE V computed(V a, V) const {
    return Op()(a, number);
  }
  C10_HOST_DEVICE T operator()(T a, T b) const {
    using opmath_t = opmath_type<T>;
    return static_cast<T>(computed(static_cast<opmath_t>(a), static_cast<opmath_t>(b)));
  }
};

/// Calls run(functor) with the functor of Op on elements of type T. A number as the second operand,
/// if there is one, is not rounded to T before. Where PyTorch rounds numbers first (sums,
/// remainders, a first operand), kernels have other functors.
template <class T, class Op, class Run>
void with_rounded(std::optional<float> number, const Run& run) {
  if constexpr (!std::is_same_v<opmath_type<T>, T>) {
    if (number) return run(RoundedWithNumber<T, Op>{*number});
  }
  run(Rounded<T, Op>());
}

}  // namespace
}  // namespace at::native
