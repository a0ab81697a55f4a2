// The kernels of add, sub, rsub and mul.
#include "aten/native/declarations/cpu/elementwise/ArithmeticKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/Modular.h"
#include "aten/native/cpu/shared/UnroundedNumber.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

void check_alpha(const TensorIteratorBase& iter, const Scalar& alpha) {
  const ScalarType type = iter.common_dtype();
  TORCH_CHECK(!alpha.is_bool() || type == kBool,
              "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(is_floating(type) || c10::is_complex(type) || alpha.is_integral(true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(c10::is_complex(type) || !alpha.is_complex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
}

template <typename T, bool kSwap>
void add_integers(const TensorIteratorBase& iter, T alpha) {
  cpu_kernel(iter, [alpha](T a, T b) -> T {
    return static_cast<T>((kSwap ? b : a) + multiply_modular<T>(kSwap ? a : b, alpha));
  });
}

/// `Alpha` may be real for complex T: multiplied by a complex 1 + 0j, infinity would become NaN.
template <typename T, typename Alpha, bool kSwap>
void add_numbers(const TensorIteratorBase& iter, Alpha alpha) {
  using opmath_t = opmath_type<T>;
  cpu_kernel(iter, [alpha](T a, T b) -> T {
    const opmath_t first = static_cast<opmath_t>(kSwap ? b : a);
    const opmath_t second = static_cast<opmath_t>(kSwap ? a : b);
    return static_cast<T>(first + second * alpha);
  });
}

template <typename T, bool kSwap>
void add_floating(const TensorIteratorBase& iter, const Scalar& alpha) {
  if constexpr (c10::is_complex_v<T>) {
    const auto value = alpha.to<T>();
    if (value.imag() != 0) return add_numbers<T, T, kSwap>(iter, value);
    add_numbers<T, real_type<T>, kSwap>(iter, value.real());
  } else {
    // Rounded to the dtype of the tensors first, as in PyTorch.
    add_numbers<T, opmath_type<T>, kSwap>(iter, static_cast<opmath_type<T>>(alpha.to<T>()));
  }
}

/// a + alpha * b, or b + alpha * a if kSwap.
template <bool kSwap>
void add_scaled(const TensorIteratorBase& iter, const Scalar& alpha) {
  const ScalarType type = iter.common_dtype();
  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      add_integers<T, kSwap>(iter, static_cast<T>(alpha.to<int64_t>()));
    });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "add",
                                   [&] { add_floating<scalar_t, kSwap>(iter, alpha); });
}

}  // namespace

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter, alpha);
  if (iter.common_dtype() == kBool) {
    const bool keep = alpha.to_bool();
    return cpu_kernel(iter, [keep](bool a, bool b) -> bool { return a | (b & keep); });
  }
  add_scaled<false>(iter, alpha);
}

void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter, alpha);
  add_scaled<false>(iter, -alpha);
}

void rsub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter, alpha);
  add_scaled<true>(iter, -alpha);
}

void mul_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (type == kBool) return cpu_kernel(iter, [](bool a, bool b) -> bool { return a & b; });
  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      cpu_kernel(iter, [](T a, T b) -> T { return multiply_modular<T>(a, b); });
    });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "mul", [&] {
    cpu_kernel_with_number<scalar_t>(iter, [](auto a, auto b) { return a * b; });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
