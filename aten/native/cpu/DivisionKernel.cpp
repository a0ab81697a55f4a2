// Division, and what comes from it: rounded quotients and remainders.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/Modular.h"
#include "aten/native/declarations/cpu/DivisionKernel.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

[[noreturn]] C10_NOINLINE void throw_zero_division() { TORCH_THROW(Error, "ZeroDivisionError"); }

/// For any integer division but by zero. The smallest number by -1 traps on x86; here it wraps around.
template <typename T>
struct Quotient {
  Quotient(T a, T b) {
    if (C10_UNLIKELY(b == 0)) throw_zero_division();
    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
    quotient = negates ? static_cast<T>(modular_t<T>(0) - static_cast<modular_t<T>>(a)) : static_cast<T>(a / b);
    remainder = negates ? T(0) : static_cast<T>(a % b);
    rounded_up = remainder != 0 && ((remainder < 0) != (b < 0));
  }
  T quotient;
  T remainder;
  bool rounded_up;  // towards zero is upwards when the exact quotient is negative
};

/// Python's floor division of floats: consistent with its modulus, so not simply floor(a / b).
template <typename T>
T floor_quotient(T a, T b) {
  if (b == T(0)) return a / b;
  const T modulus = vec::fmod(a, b);
  T quotient = (a - modulus) / b;
  if (modulus != T(0) && ((b < T(0)) != (modulus < T(0)))) quotient -= T(1);
  if (quotient == T(0)) return vec::copysign(T(0), a / b);
  const T rounded = vec::floor(quotient);
  return quotient - rounded > T(0.5) ? rounded + T(1) : rounded;
}

template <typename T>
T python_modulus(T a, T b) {
  const T modulus = vec::fmod(a, b);
  return modulus != T(0) && ((b < T(0)) != (modulus < T(0))) ? modulus + b : modulus;
}

/// `integers` gets the parts of an integer division, `floats` two numbers of the arithmetic type.
template <typename Integers, typename Floats>
void divide(const TensorIteratorBase& iter, const Integers& integers, const Floats& floats) {
  if (is_integral(iter.common_dtype(), false)) {
    return AT_DISPATCH_INTEGRAL(iter.common_dtype(), iter.op_name(), [&] {
      cpu_kernel(iter, [&](scalar_t a, scalar_t b) -> scalar_t { return static_cast<scalar_t>(integers(Quotient<scalar_t>(a, b), b)); });
    });
  }
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(), [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel(iter, [&](scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>(floats(static_cast<opmath_t>(a), static_cast<opmath_t>(b)));
    });
  });
}

}  // namespace

void div_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "div", [&] {
    using opmath_t = opmath_type<scalar_t>;
    cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>(static_cast<opmath_t>(a) / static_cast<opmath_t>(b));
    });
  });
}

void floor_divide_kernel(TensorIteratorBase& iter) {
  divide(
      iter, [](const auto& q, auto) { return q.quotient - (q.rounded_up ? 1 : 0); }, [](auto a, auto b) { return floor_quotient(a, b); });
}

void div_mode_kernel(TensorIteratorBase& iter, std::string_view rounding_mode) {
  if (rounding_mode == "floor") return floor_divide_kernel(iter);
  TORCH_CHECK(rounding_mode == "trunc", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", rounding_mode,
              "'");
  divide(iter, [](const auto& q, auto) { return q.quotient; }, [](auto a, auto b) { return vec::trunc(a / b); });
}

void remainder_kernel(TensorIteratorBase& iter) {
  divide(
      iter, [](const auto& q, auto b) { return q.remainder + (q.rounded_up ? b : 0); },
      [](auto a, auto b) { return python_modulus(a, b); });
}

void fmod_kernel(TensorIteratorBase& iter) {
  divide(iter, [](const auto& q, auto) { return q.remainder; }, [](auto a, auto b) { return vec::fmod(a, b); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
