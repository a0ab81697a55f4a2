// Arithmetic of elements.
#include "Loops.h"
#include "aten/Dispatch.h"

namespace at::native::walled {

namespace {

template <class T>
T times(T x, T y) {
  return x * y;
}
bool times(bool x, bool y) { return x && y; }

/// x + factor * y; of bool, x or y.
template <class T>
T plus(T x, T factor, T y) {
  return x + factor * y;
}
bool plus(bool x, bool factor, bool y) { return x || (factor && y); }

}  // namespace

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  AT_DISPATCH_ALL_AND_BOOL(iter.common_dtype(), "add", [&] {
    const scalar_t factor = alpha.to<scalar_t>();
    binary<scalar_t>(iter, [=](scalar_t x, scalar_t y) -> scalar_t { return plus(x, factor, y); });
  });
}

void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  AT_DISPATCH_ALL(iter.common_dtype(), "sub", [&] {
    const scalar_t factor = alpha.to<scalar_t>();
    binary<scalar_t>(iter, [=](scalar_t x, scalar_t y) -> scalar_t { return x - factor * y; });
  });
}

void mul_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_ALL_AND_BOOL(iter.common_dtype(), "mul", [&] {
    binary<scalar_t>(iter, [](scalar_t x, scalar_t y) -> scalar_t { return times(x, y); });
  });
}

void div_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_REDUCED_COMPLEX(iter.common_dtype(), "div", [&] {
    binary<scalar_t>(iter, [](scalar_t x, scalar_t y) -> scalar_t { return x / y; });
  });
}

void neg_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_ALL(iter.common_dtype(), "neg",
                  [&] { unary<scalar_t>(iter, [](scalar_t x) -> scalar_t { return -x; }); });
}

void relu_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_REAL(iter.common_dtype(), "relu", [&] {
    unary<scalar_t>(iter, [](scalar_t x) -> scalar_t { return x < scalar_t(0) ? scalar_t(0) : x; });
  });
}

void threshold_backward_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_REAL(iter.common_dtype(), "threshold_backward", [&] {
    binary<scalar_t>(iter, [](scalar_t grad, scalar_t result) -> scalar_t {
      return result <= scalar_t(0) ? scalar_t(0) : grad;
    });
  });
}

}  // namespace at::native::walled
