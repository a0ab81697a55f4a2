#pragma once
// What dropout makes of an element.
#include "aten/vec/math.h"

namespace at::native {
namespace {

/// The scale has the precision of the elements, and what is dropped is multiplied by 0: infinite
/// and NaN elements become NaN.
template <class T>
struct ScaleKept {
  using acc_t = opmath_type<T>;
  acc_t scale;

  explicit ScaleKept(double number)
      : scale(static_cast<acc_t>(static_cast<T>(static_cast<acc_t>(number)))) {}

  C10_HOST_DEVICE T operator()(T x, uint8_t is_kept) const {
    return static_cast<T>(static_cast<acc_t>(x) * (is_kept != 0 ? scale : acc_t(0)));
  }
};

}  // namespace
}  // namespace at::native
