#pragma once
// The largest and the smallest element, and the position of the first of equal ones. A nan is more
// extreme than any number. Sum.h says what Ops is.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/vec/math.h"

namespace at::native {
namespace {

template <class T, bool kMax>
struct Extremum {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  using limits = std::numeric_limits<acc_t>;
  C10_HOST_DEVICE static acc_t identity() {
    if constexpr (limits::has_infinity) return kMax ? -limits::infinity() : limits::infinity();
    return kMax ? limits::lowest() : limits::max();
  }
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) {
    return kMax ? vec::maximum(a, b) : vec::minimum(a, b);
  }
  C10_HOST_DEVICE static acc_t reduce(acc_t acc, T value) {
    return combine(acc, static_cast<acc_t>(value));
  }
  C10_HOST_DEVICE static T project(acc_t acc) { return static_cast<T>(acc); }
};

template <bool kMax, class Run>
void with_extremum_ops(ScalarType type, const char* op_name, const Run& run) {
  if (type == kBool) return run(Extremum<uint8_t, kMax>());
  AT_DISPATCH_REAL(type, op_name, [&] { run(Extremum<scalar_t, kMax>()); });
}

/// The best element so far and its position.
template <class T>
struct Found {
  T value{};
  int64_t index = -1;  // none yet
};

template <class T, bool kMax>
C10_HOST_DEVICE bool is_better(T candidate, T best) {
  return (kMax ? candidate > best : candidate < best) || (candidate != candidate && best == best);
}

}  // namespace
}  // namespace at::native
