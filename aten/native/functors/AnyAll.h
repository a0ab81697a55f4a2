#pragma once
// Whether any or all elements are true. Sum.h says what Ops is.
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"

namespace at::native {
namespace {

template <class T>
C10_HOST_DEVICE bool is_nonzero(T value) {
  return value != T(0);
}
template <class T>
C10_HOST_DEVICE bool is_nonzero(c10::complex<T> value) {
  return static_cast<bool>(value);
}

/// Whether any element is true. With `negated` the elements and the result are negated, which tells
/// whether all are true.
template <class T>
struct AnyNonzero {
  using input_t = T;
  using acc_t = bool;
  using output_t = bool;
  bool negated;
  C10_HOST_DEVICE static bool identity() { return false; }
  C10_HOST_DEVICE bool reduce(bool acc, T value) const {
    return acc | (is_nonzero(value) != negated);
  }
  C10_HOST_DEVICE static bool combine(bool a, bool b) { return a | b; }
  C10_HOST_DEVICE bool project(bool acc) const { return acc != negated; }
};

template <class Run>
void with_any_or_all_ops(ScalarType type, const char* op_name, bool is_all, const Run& run) {
  if (is_integral(type, true))
    return dispatch_modular(type, [&]<typename T>() { run(AnyNonzero<T>{is_all}); });
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, op_name, [&] { run(AnyNonzero<scalar_t>{is_all}); });
}

}  // namespace
}  // namespace at::native
