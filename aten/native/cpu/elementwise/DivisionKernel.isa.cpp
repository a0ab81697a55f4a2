// The kernels of div, floor_divide, remainder and fmod.
#include <limits>
#include <optional>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/Modular.h"
#include "aten/native/cpu/shared/UnroundedNumber.h"
#include "aten/native/declarations/cpu/elementwise/DivisionKernel.isa.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

[[noreturn]] C10_NOINLINE void throw_zero_division() { TORCH_THROW(Error, "ZeroDivisionError"); }

/// The parts of an integer division, which raises for a divisor of zero. The lowest number divided
/// by -1 traps on x86; here it wraps around.
template <typename T>
struct Quotient {
  Quotient(T a, T b) {
    if (C10_UNLIKELY(b == 0)) throw_zero_division();

    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
    quotient = negates ? static_cast<T>(modular_t<T>(0) - static_cast<modular_t<T>>(a))
                       : static_cast<T>(a / b);
    remainder = negates ? T(0) : static_cast<T>(a % b);
    rounded_up = remainder != 0 && ((remainder < 0) != (b < 0));
  }
  T quotient;
  T remainder;
  bool rounded_up;  // towards zero is upwards when the exact quotient is negative
};

/// Python's floor division of floats. It is not simply floor(a / b), because it must be consistent
/// with the modulus.
template <typename T>
T exact_floor_quotient(T a, T b) {
  if (b == T(0)) return a / b;

  const T modulus = vec::fmod(a, b);
  T quotient = (a - modulus) / b;
  if (modulus != T(0) && ((b < T(0)) != (modulus < T(0)))) quotient -= T(1);

  if (quotient == T(0)) return vec::copysign(T(0), a / b);
  const T rounded = vec::floor(quotient);
  return quotient - rounded > T(0.5) ? rounded + T(1) : rounded;
}

/// Turns C's modulus, which has the sign of the dividend, into Python's, which has that of the
/// divisor b.
template <typename T>
C10_ALWAYS_INLINE T python_modulus(T b, T modulus) {
  // Selecting the number to add vectorises, unlike a conditional addition. Adding -0 changes no
  // value, not even the sign of zero.
  const bool has_other_sign = modulus * vec::copysign(T(1), b) < T(0);
  return modulus + (has_other_sign ? b : T(-0.0));
}

// Note [Quick division with remainder]
// For positive x and y and a quotient that is small enough, the whole part of x / y follows from
// the rounded division. Rounding may lift x / y to the next whole number, but never takes it below
// its own whole part. With n the whole part of the rounded quotient, floor(x / y) is therefore n or
// n - 1. The sign of x - n y decides: this difference is representable, and one fused multiply-add
// computes it exactly. Without that instruction, floats are divided in double: quotients below 2^28
// are never rounded up to a whole number there, and their whole part times y is exact. Larger
// quotients and non-finite operands give NaN and are computed once more exactly.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

/// |a| = whole * |b| + rest with 0 <= rest < |b|.
template <typename T>
struct QuickDivision {
  T whole;
  T rest;
  bool certain;

  C10_ALWAYS_INLINE QuickDivision(T a, T b) {
    constexpr T kLimit = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);
    const T x = vec::abs(a);
    const T y = vec::abs(b);
    const T quotient = vec::trunc(x / y);
    const T difference = vec::multiply_add(-quotient, y, x);

    const bool is_above = difference < T(0);
    whole = is_above ? quotient - T(1) : quotient;
    rest = is_above ? difference + y : difference;
    certain = (quotient < kLimit) & (difference == difference);  // NaN if y is infinite
  }
};

/// The same in double for floats, where |a / b| < 2^28.
struct QuickDivisionOfFloats {
  double whole;
  double rest;
  bool certain;

  C10_ALWAYS_INLINE QuickDivisionOfFloats(double a, double b) {
    const double quotient = vec::abs(a / b);
    const bool is_small = quotient < 0x1p28;
    whole = static_cast<int32_t>(is_small ? quotient : 0.0);
    rest = vec::abs(a) - whole * vec::abs(b);
    certain = is_small & (rest == rest);
  }
};

/// `value`, or NaN to request the exact computation.
template <typename T>
C10_ALWAYS_INLINE T nan_unless(bool certain, T value) {
  return certain ? value : static_cast<T>(__builtin_nan(""));
}

// The operations on floats: `quick` from the parts of a quick division, `exact` from the operands.

struct FloorQuotient {
  template <typename T, typename D>
  static C10_ALWAYS_INLINE T quick(T a, T b, const D& d) {
    const T sign = vec::copysign(T(1), a) * vec::copysign(T(1), b);
    const bool rounds_up = (sign < T(0)) & (d.rest > T(0));
    return nan_unless(d.certain, sign * (d.whole + (rounds_up ? T(1) : T(0))));
  }

  template <typename T>
  static T exact(T a, T b) {
    return exact_floor_quotient(a, b);
  }
};

struct Remainder {
  template <typename T, typename D>
  static C10_ALWAYS_INLINE T quick(T a, T b, const D& d) {
    return python_modulus(b, nan_unless(d.certain, vec::copysign(T(d.rest), a)));
  }

  template <typename T>
  static T exact(T a, T b) {
    return python_modulus(b, vec::fmod(a, b));
  }
};

struct Fmod {
  template <typename T, typename D>
  static C10_ALWAYS_INLINE T quick(T a, T, const D& d) {
    return nan_unless(d.certain, vec::copysign(T(d.rest), a));
  }

  template <typename T>
  static T exact(T a, T b) {
    return vec::fmod(a, b);
  }
};

/// See Note [Quick division with remainder]. The result is NaN where it needs the exact
/// computation.
template <typename Op, typename T>
C10_ALWAYS_INLINE T quick_division(T a, T b) {
  if constexpr (kFused) {
    return Op::quick(a, b, QuickDivision<T>(a, b));
  } else if constexpr (std::is_same_v<T, float>) {
    const double x = a;
    const double y = b;
    return static_cast<float>(Op::quick(x, y, QuickDivisionOfFloats(x, y)));
  } else {
    return Op::exact(a, b);
  }
}

/// The address of `count` operands: in place if they are contiguous, else gathered into `memory`. A
/// broadcast operand is gathered for the first block only.
template <typename T>
const T* operands(const char* source, int64_t stride, int64_t count, bool is_first, T* memory) {
  if (stride == static_cast<int64_t>(sizeof(T))) return reinterpret_cast<const T*>(source);
  if (stride != 0 || is_first) gather(memory, source, stride, sizeof(T), count);
  return memory;
}

/// Applies Op to every element, first quickly, then exactly where that gave NaN. `number` is a
/// common divisor that scalar_t may not represent.
template <typename scalar_t, typename Op>
void divide_floats(const TensorIteratorBase& iter, std::optional<float> number) {
  using opmath_t = opmath_type<scalar_t>;
  constexpr bool widens = !std::is_same_v<opmath_t, scalar_t>;
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    const auto& divisor = *static_cast<const std::optional<float>*>(context);
    alignas(64) scalar_t a_block[kBlock], b_block[kBlock], out[kBlock];
    alignas(64) opmath_t wide[kBlock], results[kBlock];

    for (int64_t start = 0; start < n; start += kBlock) {
      const int64_t count = std::min(kBlock, n - start);

      const scalar_t* a =
          operands(data[1] + start * strides[1], strides[1], count, start == 0, a_block);
      const scalar_t* narrow =
          operands(data[2] + start * strides[2], strides[2], count, start == 0, b_block);

      // The divisors in the arithmetic type.
      const opmath_t* b = wide;
      if constexpr (!widens) b = narrow;
      for (int64_t i = 0; widens && i < count; ++i)
        wide[i] = divisor ? static_cast<opmath_t>(*divisor) : static_cast<opmath_t>(narrow[i]);

      for (int64_t i = 0; i < count; ++i)
        results[i] = quick_division<Op>(static_cast<opmath_t>(a[i]), b[i]);

      // NaN marks the elements that need the exact computation, in double.
      int uncertain = 0;
      for (int64_t i = 0; i < count; ++i) uncertain |= results[i] != results[i];
      for (int64_t i = 0; uncertain != 0 && i < count; ++i) {
        const double x = static_cast<opmath_t>(a[i]);
        const double y = b[i];
        if (results[i] != results[i]) results[i] = static_cast<opmath_t>(Op::exact(x, y));
      }

      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<scalar_t>(results[i]);
      scatter(data[0] + start * strides[0], strides[0], out, sizeof(scalar_t), count);
    }
  };

  iter.for_each(loop, &number, TensorIterator::kGrain);
}

/// Calls op(Quotient, divisor) for every pair of integers.
template <typename Op>
void divide_integers(const TensorIteratorBase& iter, const Op& op) {
  AT_DISPATCH_INTEGRAL(iter.common_dtype(), iter.op_name(), [&] {
    cpu_kernel(iter, [&](scalar_t a, scalar_t b) -> scalar_t {
      return static_cast<scalar_t>(op(Quotient<scalar_t>(a, b), b));
    });
  });
}

/// Divides integers by `integers`, which gets the parts of a division, and floats by Op.
template <typename Op, typename Integers>
void divide(const TensorIteratorBase& iter, const Integers& integers,
            std::optional<float> number = std::nullopt) {
  if (is_integral(iter.common_dtype(), false)) return divide_integers(iter, integers);
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(),
                                   [&] { divide_floats<scalar_t, Op>(iter, number); });
}

}  // namespace

void div_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "div", [&] {
    cpu_kernel_with_number<scalar_t>(iter, [](auto a, auto b) { return a / b; });
  });
}

void floor_divide_kernel(TensorIteratorBase& iter) {
  divide<FloorQuotient>(
      iter, [](const auto& q, auto) { return q.quotient - (q.rounded_up ? 1 : 0); },
      iter.unrounded_number(2));
}

void div_mode_kernel(TensorIteratorBase& iter, std::string_view rounding_mode) {
  if (rounding_mode == "floor") return floor_divide_kernel(iter);
  TORCH_CHECK(rounding_mode == "trunc",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
              rounding_mode, "'");

  if (is_integral(iter.common_dtype(), false))
    return divide_integers(iter, [](const auto& q, auto) { return q.quotient; });
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), iter.op_name(), [&] {
    cpu_kernel_with_number<scalar_t>(iter, [](auto a, auto b) { return vec::trunc(a / b); });
  });
}

void remainder_kernel(TensorIteratorBase& iter) {
  divide<Remainder>(iter,
                    [](const auto& q, auto b) { return q.remainder + (q.rounded_up ? b : 0); });
}

void fmod_kernel(TensorIteratorBase& iter) {
  divide<Fmod>(iter, [](const auto& q, auto) { return q.remainder; });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
