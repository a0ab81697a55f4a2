// The numbers of arange and linspace, each from its index: errors do not add up, and the number of
// threads does not matter.
#pragma once
#include <type_traits>

#include "aten/Dispatch.h"
#include "aten/vec/wrapping.h"

namespace at::native {
namespace {

template <class T>
struct EqualSteps {
  using acc_t =
      std::conditional_t<is_integral(scalar_type_of<T>, true), int64_t,
                         std::conditional_t<c10::is_complex(scalar_type_of<T>), T, double>>;
  acc_t first;
  acc_t width;

  C10_HOST_DEVICE T operator()(int64_t i) const {
    return convert<T>(static_cast<acc_t>(
        vec::wrapping_sum(first, vec::wrapping_product(width, convert<acc_t>(i)))));
  }
};

/// n numbers between two bounds, from both ends, so that the last one is exactly `last`.
template <class T>
struct BetweenBounds {
  using acc_t =
      std::conditional_t<c10::is_complex(scalar_type_of<T>), c10::complex<double>, double>;
  acc_t first;
  acc_t last;
  acc_t step;
  int64_t n;

  BetweenBounds(const Scalar& start, const Scalar& end, int64_t count)
      : first(bound(start)), last(bound(end)), n(count) {
    step = n > 1 ? (last - first) / convert<acc_t>(n - 1) : acc_t(0);
  }

  C10_HOST_DEVICE T operator()(int64_t i) const {
    return convert<T>(i < n / 2 || n == 1 ? first + step * convert<acc_t>(i)
                                          : last - step * convert<acc_t>(n - 1 - i));
  }

 private:
  /// A bound as the dtype holds it: integers without their fractions.
  static acc_t bound(const Scalar& number) {
    if constexpr (is_integral(scalar_type_of<T>, false)) {
      return static_cast<acc_t>(number.to<T>());
    } else {
      return number.to<acc_t>();
    }
  }
};

}  // namespace
}  // namespace at::native
