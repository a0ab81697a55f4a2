#pragma once
// Euclidean norms. Sum.h says what Ops is.
#include "aten/Dispatch.h"
#include "aten/vec/math.h"

namespace at::native {
namespace {

template <class T>
struct EuclideanNorm {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  C10_HOST_DEVICE static acc_t identity() { return acc_t(0); }
  C10_HOST_DEVICE static acc_t reduce(acc_t acc, T value) {
    // Always fused or never: the compiler may fuse some loops only, and results must not depend on
    // the loop that a row is in.
    const auto number = static_cast<acc_t>(value);
    return vec::multiply_add(number, number, acc);
  }
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) { return a + b; }
  C10_HOST_DEVICE static T project(acc_t acc) { return static_cast<T>(vec::sqrt(acc)); }
};

}  // namespace
}  // namespace at::native
