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
  static constexpr bool kCompares = true;
  C10_HOST_DEVICE static acc_t identity() {
    if constexpr (limits::has_infinity) return kMax ? -limits::infinity() : limits::infinity();
    return kMax ? limits::lowest() : limits::max();
  }
  C10_HOST_DEVICE static T worst() { return static_cast<T>(identity()); }
  /// As vec::maximum, in two selections: chains of calls with `||` do not vectorise. A nan in `a`
  /// stays, as it compares with nothing; whether `b` is one does not depend on the elements before.
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) {
    const acc_t better = (kMax ? b > a : b < a) ? b : a;
    return b != b ? b : better;
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

/// The first of the extreme elements and its position. An accumulator is given elements in the
/// order of their positions; accumulators may be combined in any order. One that got nothing but
/// the least extreme number has no position: if none has one, the first element is the result.
/// Whether it is the largest is known at run time only, which halves the number of kernels.
template <class T>
struct ExtremumAt {
  struct acc_t {
    T value;
    int64_t index;
  };
  using input_t = T;
  using output_t = int64_t;
  using second_t = T;
  bool is_max;
  C10_HOST_DEVICE acc_t identity() const {
    return {is_max ? Extremum<T, true>::worst() : Extremum<T, false>::worst(), -1};
  }
  C10_HOST_DEVICE bool precedes(T a, T b) const {
    return is_max ? is_better<T, true>(a, b) : is_better<T, false>(a, b);
  }
  C10_HOST_DEVICE acc_t reduce(acc_t acc, T value, int64_t index) const {
    return precedes(value, acc.value) ? acc_t{value, index} : acc;
  }
  C10_HOST_DEVICE acc_t combine(acc_t a, acc_t b) const {
    if (b.index < 0) return a;
    if (a.index < 0 || precedes(b.value, a.value)) return b;
    return b.index < a.index && !precedes(a.value, b.value) ? b : a;
  }
  C10_HOST_DEVICE static int64_t project(acc_t acc) { return acc.index < 0 ? 0 : acc.index; }
  C10_HOST_DEVICE static T project_second(acc_t acc) { return acc.value; }
};

template <class Run>
void with_extremum_at_ops(ScalarType type, const char* op_name, bool is_max, const Run& run) {
  if (type == kBool) return run(ExtremumAt<uint8_t>{is_max});
  AT_DISPATCH_REAL(type, op_name, [&] { run(ExtremumAt<scalar_t>{is_max}); });
}

}  // namespace
}  // namespace at::native
