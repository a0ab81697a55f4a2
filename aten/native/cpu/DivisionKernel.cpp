// Division, and what comes from it: rounded quotients and remainders.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/Modular.h"
#include "aten/native/cpu/UnroundedNumber.h"
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

/// Python's floor division of floats: consistent with its modulus, so not simply floor(a / b). `modulus` is fmod(a, b).
template <typename T>
T floor_quotient(T a, T b, T modulus) {
  if (b == T(0)) return a / b;
  T quotient = (a - modulus) / b;
  if (modulus != T(0) && ((b < T(0)) != (modulus < T(0)))) quotient -= T(1);
  if (quotient == T(0)) return vec::copysign(T(0), a / b);
  const T rounded = vec::floor(quotient);
  return quotient - rounded > T(0.5) ? rounded + T(1) : rounded;
}

template <typename T>
C10_ALWAYS_INLINE T python_modulus(T b, T modulus) {
  // A select of what is added, not of whether to add, vectorises; -0 added changes nothing, not even the sign of zero.
  const bool has_other_sign = modulus * vec::copysign(T(1), b) < T(0);
  return modulus + (has_other_sign ? b : T(-0.0));
}

/// fmod of two floats where the quotient is small enough to be certain, else NaN. Both operands have 24 bits: the quotient, of less
/// than 28, is in double right after truncation, and its product with b is exact.
C10_ALWAYS_INLINE double quick_fmod_of_floats(double a, double b) {
  const double quotient = a / b;
  const bool certain = vec::abs(quotient) < 0x1p28;
  const double whole = static_cast<int32_t>(certain ? quotient : 0.0);
  const double rest = vec::copysign(a - whole * b, a);
  return certain ? rest : __builtin_nan("");
}
/// The quotient may have been rounded up to a whole number: then the difference, which is exact, has the other sign.
C10_ALWAYS_INLINE double quick_fmod_of_doubles(double a, double b) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  const double x = vec::abs(a), y = vec::abs(b);
  const double quotient = vec::trunc(x / y);
  const double difference = __builtin_fma(-quotient, y, x);
  const double rest = difference < 0.0 ? difference + y : difference;
  return quotient < 0x1p52 ? vec::copysign(rest, a) : __builtin_nan("");
#else
  return vec::fmod(a, b);  // without fused multiply-add no faster way is exact
#endif
}

/// `count` divisors in the arithmetic type; all are `number` when there is one.
template <typename scalar_t>
void load_divisors(opmath_type<scalar_t>* divisors, const char* source, int64_t stride, int64_t count, std::optional<float> number) {
  if constexpr (std::is_same_v<opmath_type<scalar_t>, scalar_t>) {
    gather(divisors, source, stride, sizeof(scalar_t), count);
  } else if (number) {
    std::fill_n(divisors, count, *number);
  } else {
    alignas(64) scalar_t narrow[kBlock];
    gather(narrow, source, stride, sizeof(scalar_t), count);
    for (int64_t i = 0; i < count; ++i) divisors[i] = static_cast<opmath_type<scalar_t>>(narrow[i]);
  }
}

/// op(a, b, fmod(a, b)) in double for every element, first with the quick fmod; where that gives NaN, once more with the exact one.
/// `number` is what all b are, when that is not one of scalar_t.
template <typename scalar_t, typename Op>
void with_modulus(const TensorIteratorBase& iter, const Op& op, std::optional<float> number) {
  using opmath_t = opmath_type<scalar_t>;
  struct Context {
    const Op& op;
    std::optional<float> number;
  };
  const Context given{op, number};
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    const auto& [f, number] = *static_cast<const Context*>(context);
    alignas(64) scalar_t a[kBlock], out[kBlock];
    alignas(64) opmath_t b[kBlock];
    alignas(64) double results[kBlock];
    for (int64_t start = 0; start < n; start += kBlock) {
      const int64_t count = std::min(kBlock, n - start);
      gather(a, data[1] + start * strides[1], strides[1], sizeof(scalar_t), count);
      load_divisors<scalar_t>(b, data[2] + start * strides[2], strides[2], count, number);
      for (int64_t i = 0; i < count; ++i) {
        const double x = static_cast<opmath_t>(a[i]), y = b[i];
        results[i] = f(x, y, std::is_same_v<opmath_t, float> ? quick_fmod_of_floats(x, y) : quick_fmod_of_doubles(x, y));
      }
      int64_t uncertain = 0;
      for (int64_t i = 0; i < count; ++i) uncertain |= results[i] != results[i];
      for (int64_t i = 0; uncertain != 0 && i < count; ++i) {
        const double x = static_cast<opmath_t>(a[i]), y = b[i];
        if (results[i] != results[i]) results[i] = f(x, y, vec::fmod(x, y));
      }
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<scalar_t>(static_cast<opmath_t>(results[i]));
      scatter(data[0] + start * strides[0], strides[0], out, sizeof(scalar_t), count);
    }
  };
  iter.for_each(loop, &given, TensorIterator::kGrain);
}

/// `op` gets the parts of an integer division.
template <typename Op>
void divide_integers(const TensorIteratorBase& iter, const Op& op) {
  AT_DISPATCH_INTEGRAL(iter.common_dtype(), iter.op_name(), [&] {
    cpu_kernel(iter, [&](scalar_t a, scalar_t b) -> scalar_t { return static_cast<scalar_t>(op(Quotient<scalar_t>(a, b), b)); });
  });
}

/// `integers` gets the parts of an integer division, `floats` two numbers of the arithmetic type and their fmod.
template <typename Integers, typename Floats>
void divide(const TensorIteratorBase& iter, const Integers& integers, const Floats& floats, std::optional<float> number = std::nullopt) {
  if (is_integral(iter.common_dtype(), false)) return divide_integers(iter, integers);
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(), [&] { with_modulus<scalar_t>(iter, floats, number); });
}

}  // namespace

void div_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "div",
                                   [&] { cpu_kernel_with_number<scalar_t>(iter, [](auto a, auto b) { return a / b; }); });
}

void floor_divide_kernel(TensorIteratorBase& iter) {
  divide(
      iter, [](const auto& q, auto) { return q.quotient - (q.rounded_up ? 1 : 0); },
      [](auto a, auto b, auto modulus) { return floor_quotient(a, b, modulus); }, iter.unrounded_number(2));
}

void div_mode_kernel(TensorIteratorBase& iter, std::string_view rounding_mode) {
  if (rounding_mode == "floor") return floor_divide_kernel(iter);
  TORCH_CHECK(rounding_mode == "trunc", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", rounding_mode,
              "'");
  if (is_integral(iter.common_dtype(), false)) return divide_integers(iter, [](const auto& q, auto) { return q.quotient; });
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(),
                                   [&] { cpu_kernel_with_number<scalar_t>(iter, [](auto a, auto b) { return vec::trunc(a / b); }); });
}

void remainder_kernel(TensorIteratorBase& iter) {
  divide(
      iter, [](const auto& q, auto b) { return q.remainder + (q.rounded_up ? b : 0); },
      [](auto, auto b, auto modulus) { return python_modulus(b, modulus); });
}

void fmod_kernel(TensorIteratorBase& iter) {
  divide(iter, [](const auto& q, auto) { return q.remainder; }, [](auto, auto, auto modulus) { return modulus; });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
