#pragma once
// The type in which running sums and products accumulate.
#include "aten/Dispatch.h"

namespace at::native {
namespace {

/// float accumulates in double, as a running result keeps every rounding error to its end.
template <class T>
struct RunningType {
  using type = opmath_type<T>;
};
template <>
struct RunningType<float> {
  using type = double;
};
template <>
struct RunningType<c10::complex<float>> {
  using type = c10::complex<double>;
};

}  // namespace
}  // namespace at::native
