#pragma once
// clamp, which limits an element to a range given by two numbers.
#include <limits>
#include <optional>

#include "aten/Dispatch.h"
#include "c10/core/Scalar.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

template <class T>
struct Clamp {
  using opmath_t = opmath_type<T>;
  opmath_t low;
  opmath_t high;
  opmath_t addend;  // NaN if a limit is NaN, otherwise what changes no number

  // Comparisons with NaN are false, so NaN elements stay.
  template <class V>
  C10_HOST_DEVICE V computed(V x) const {
    x = x < low ? low : x;
    x = x > high ? high : x;
    return x + addend;
  }
  C10_HOST_DEVICE T operator()(T value) const {
    return static_cast<T>(computed(static_cast<opmath_t>(value)));
  }
};

template <class T>
Clamp<T> make_clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  using opmath_t = opmath_type<T>;
  using limits = std::numeric_limits<opmath_t>;
  constexpr opmath_t kLowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
  constexpr opmath_t kHighest = limits::has_infinity ? limits::infinity() : limits::max();

  opmath_t low = min.has_value() ? static_cast<opmath_t>(min->to<T>()) : kLowest;
  opmath_t high = max.has_value() ? static_cast<opmath_t>(max->to<T>()) : kHighest;

  // A NaN bound gives NaN everywhere.
  if (low != low || high != high) low = high = low != low ? low : high;
  return {low, high, low != low ? low : static_cast<opmath_t>(-0.0)};
}

template <class Run>
void with_clamp(ScalarType type, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
                const Run& run) {
  TORCH_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");

  if (is_integral(type, true)) {
    TORCH_CHECK((!min.has_value() || min->is_integral(true)) &&
                    (!max.has_value() || max->is_integral(true)),
                "clamp: result type Float can't be cast to the desired output type ", type);
  }

  AT_DISPATCH_REAL(type, "clamp", [&] { run(make_clamp<scalar_t>(min, max)); });
}

}  // namespace
}  // namespace at::native
