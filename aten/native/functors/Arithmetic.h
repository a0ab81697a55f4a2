#pragma once
// add, sub, rsub and mul of two elements.
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/UnroundedNumber.h"
#include "c10/core/Scalar.h"

namespace at::native {
namespace {

template <class T, bool kSwap>
struct AddIntegers {
  T alpha;

  C10_HOST_DEVICE T operator()(T a, T b) const {
    return static_cast<T>((kSwap ? b : a) + multiply_modular<T>(kSwap ? a : b, alpha));
  }
};

/// `Alpha` may be real for complex T: multiplied by a complex 1 + 0j, infinity would become NaN.
template <class T, class Alpha, bool kSwap>
struct AddNumbers {
  Alpha alpha;

  template <class V>
  C10_HOST_DEVICE V computed(V a, V b) const {
    return kSwap ? b + a * alpha : a + b * alpha;
  }
  C10_HOST_DEVICE T operator()(T a, T b) const {
    using opmath_t = opmath_type<T>;
    return static_cast<T>(computed(static_cast<opmath_t>(a), static_cast<opmath_t>(b)));
  }
};

struct AddBools {
  bool keep;

  C10_HOST_DEVICE bool operator()(bool a, bool b) const { return a | (b & keep); }
};

template <class T>
struct MultiplyIntegers {
  C10_HOST_DEVICE T operator()(T a, T b) const { return multiply_modular<T>(a, b); }
};

struct MultiplyBools {
  C10_HOST_DEVICE bool operator()(bool a, bool b) const { return a & b; }
};

struct Multiplication {
  template <class A, class B>
  C10_HOST_DEVICE auto operator()(A a, B b) const {
    return a * b;
  }
};

inline void check_alpha(ScalarType type, const Scalar& alpha) {
  TORCH_CHECK(!alpha.is_bool() || type == kBool,
              "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(is_floating(type) || c10::is_complex(type) || alpha.is_integral(true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(c10::is_complex(type) || !alpha.is_complex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
}

template <class T, bool kSwap, class Run>
void with_floating_sum(const Scalar& alpha, const Run& run) {
  if constexpr (c10::is_complex_v<T>) {
    const auto value = alpha.to<T>();
    if (value.imag() != 0) return run(AddNumbers<T, T, kSwap>{value});
    run(AddNumbers<T, real_type<T>, kSwap>{value.real()});
  } else {
    // Rounded to the dtype of the tensors first, as in PyTorch.
    using opmath_t = opmath_type<T>;
    run(AddNumbers<T, opmath_t, kSwap>{static_cast<opmath_t>(alpha.to<T>())});
  }
}

/// Calls run(functor) with the functor of a + alpha * b, or of b + alpha * a if kSwap.
template <bool kSwap, class Run>
void with_sum(ScalarType type, const Scalar& alpha, const Run& run) {
  if (type == kBool) return run(AddBools{alpha.to_bool()});
  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      run(AddIntegers<T, kSwap>{static_cast<T>(alpha.to<int64_t>())});
    });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "add",
                                   [&] { with_floating_sum<scalar_t, kSwap>(alpha, run); });
}

/// Calls run(functor) with the functor of a * b. `number` is b before it was rounded.
template <class Run>
void with_product(ScalarType type, std::optional<float> number, const Run& run) {
  if (type == kBool) return run(MultiplyBools());
  if (is_integral(type, false))
    return dispatch_modular(type, [&]<typename T>() { run(MultiplyIntegers<T>()); });
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "mul",
                                   [&] { with_rounded<scalar_t, Multiplication>(number, run); });
}

}  // namespace
}  // namespace at::native
