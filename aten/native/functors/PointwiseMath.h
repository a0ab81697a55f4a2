#pragma once
// nan_to_num, which replaces NaN and infinities by numbers.
#include <limits>
#include <optional>

#include "aten/Dispatch.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

/// T may be complex; both parts are replaced then.
template <class T>
struct NanToNum {
  using part_t = real_type<T>;
  using opmath_t = opmath_type<part_t>;
  opmath_t number;
  opmath_t highest;
  opmath_t lowest;

  C10_HOST_DEVICE part_t replaced(part_t value) const {
    constexpr auto kInfinite = std::numeric_limits<opmath_t>::infinity();
    const auto x = static_cast<opmath_t>(value);
    const opmath_t bounded = x == kInfinite ? highest : x == -kInfinite ? lowest : x;
    return static_cast<part_t>(x != x ? number : bounded);
  }

  C10_HOST_DEVICE T operator()(T value) const {
    if constexpr (c10::is_complex_v<T>) {
      return T(replaced(value.real()), replaced(value.imag()));
    } else {
      return replaced(value);
    }
  }
};

template <class T>
NanToNum<T> make_nan_to_num(std::optional<double> nan, std::optional<double> posinf,
                            std::optional<double> neginf) {
  using part_t = real_type<T>;
  using opmath_t = opmath_type<part_t>;
  using limits = std::numeric_limits<part_t>;

  const auto number =
      static_cast<opmath_t>(static_cast<part_t>(static_cast<opmath_t>(nan.value_or(0.0))));
  const auto highest =
      posinf.has_value() ? static_cast<opmath_t>(*posinf) : static_cast<opmath_t>(limits::max());
  const auto lowest =
      neginf.has_value() ? static_cast<opmath_t>(*neginf) : static_cast<opmath_t>(limits::lowest());
  return {number, highest, lowest};
}

/// `type` is a floating-point or complex dtype: every integer is a finite number.
template <class Run>
void with_nan_to_num(ScalarType type, std::optional<double> nan, std::optional<double> posinf,
                     std::optional<double> neginf, const Run& run) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "nan_to_num",
                                   [&] { run(make_nan_to_num<scalar_t>(nan, posinf, neginf)); });
}

}  // namespace
}  // namespace at::native
