// The kernel of pow, with shorter ways for frequent constant exponents.
#include "aten/native/declarations/cpu/elementwise/PowerKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/Modular.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The power by repeated squaring, modulo 2^bits. A negative exponent gives 0, unless the base is 1
/// or -1, whose reciprocals are integers.
template <typename T>
T integer_power(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    if (base == T(1)) return 1;
    return base == static_cast<T>(-1) ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T(0);
  }

  T result = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = multiply_modular<T>(result, base);
    base = multiply_modular<T>(base, base);
  }
  return result;
}

template <typename T>
void power_of_integers(const TensorIteratorBase& iter) {
  const Tensor& exponent = iter.input(1);
  if (iter.numel() == 0) return;

  TORCH_CHECK(!std::is_signed_v<T> || !exponent.is_wrapped_number() ||
                  *exponent.const_data_ptr<T>() >= 0,
              "Integers to negative integer powers are not allowed.");
  cpu_kernel(iter, [](T base, T power) -> T { return integer_power<T>(base, power); });
}

/// Applies `op` to the base; the exponent is one number for all elements.
template <typename T, typename Op>
void power_loop(const TensorIteratorBase& iter, const Op& op) {
  using opmath_t = opmath_type<T>;
  cpu_kernel(iter,
             [op](T base, T) -> T { return static_cast<T>(op(static_cast<opmath_t>(base))); });
}

/// Computes powers with one of the exponents that need only a multiplication, a root or a
/// reciprocal. Returns false for all others.
template <typename T>
bool try_known_exponent(const TensorIteratorBase& iter) {
  using opmath_t = opmath_type<T>;
  if (iter.input(1).numel() != 1) return false;

  const opmath_t exponent = static_cast<opmath_t>(*iter.input(1).const_data_ptr<T>());
  if (exponent == opmath_t(2)) {
    power_loop<T>(iter, [](opmath_t x) { return x * x; });
  } else if (exponent == opmath_t(3)) {
    power_loop<T>(iter, [](opmath_t x) { return x * x * x; });
  } else if (exponent == opmath_t(0.5)) {
    power_loop<T>(iter, [](opmath_t x) { return vec::sqrt(x); });
  } else if (exponent == opmath_t(-1)) {
    power_loop<T>(iter, [](opmath_t x) { return vec::reciprocal(x); });
  } else {
    return false;
  }
  return true;
}

}  // namespace

void pow_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (is_integral(type, false))
    return AT_DISPATCH_INTEGRAL(type, "pow", [&] { power_of_integers<scalar_t>(iter); });

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "pow", [&] {
    using opmath_t = opmath_type<scalar_t>;
    if (iter.numel() == 0 || try_known_exponent<scalar_t>(iter)) return;
    cpu_kernel(iter, [](scalar_t base, scalar_t power) -> scalar_t {
      return static_cast<scalar_t>(
          vec::pow(static_cast<opmath_t>(base), static_cast<opmath_t>(power)));
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
