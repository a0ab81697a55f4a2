#pragma once
// div, floor_divide, remainder and fmod of two elements.
#include <cstdint>
#include <optional>
#include <string_view>

#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/UnroundedNumber.h"
#include "aten/vec/math.h"

namespace at::native {
namespace {

// --- Integers ---

/// The parts of an integer division by a number other than 0. The lowest number divided by -1 traps
/// on x86; here it wraps around.
template <class T>
struct Quotient {
  C10_HOST_DEVICE Quotient(T a, T b) {
    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
    quotient = negates ? static_cast<T>(modular_t<T>(0) - static_cast<modular_t<T>>(a))
                       : static_cast<T>(a / b);
    remainder = negates ? T(0) : static_cast<T>(a % b);
    set_rounded_up(b);
  }

  /// The same from the quotient rounded towards zero.
  C10_HOST_DEVICE Quotient(T a, T b, T rounded) : quotient(rounded) {
    using M = modular_t<T>;
    remainder = static_cast<T>(static_cast<M>(a) - static_cast<M>(rounded) * static_cast<M>(b));
    set_rounded_up(b);
  }

  T quotient;
  T remainder;
  bool rounded_up = false;  // towards zero is upwards when the exact quotient is negative

 private:
  C10_HOST_DEVICE void set_rounded_up(T b) {
    if constexpr (std::is_signed_v<T>) rounded_up = (remainder != 0) & ((remainder < 0) != (b < 0));
  }
};

// --- Floats ---

/// Python's floor division of floats. It is not simply floor(a / b), because it must be consistent
/// with the modulus.
template <class T>
C10_HOST_DEVICE T exact_floor_quotient(T a, T b) {
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
template <class T>
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
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

C10_ALWAYS_INLINE float fused_multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
C10_ALWAYS_INLINE double fused_multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

/// |a| = whole * |b| + rest with 0 <= rest < |b|.
template <class T>
struct QuickDivision {
  T whole;
  T rest;
  bool certain;

  C10_ALWAYS_INLINE QuickDivision(T a, T b) {
    constexpr T kLimit = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);
    const T x = vec::abs(a);
    const T y = vec::abs(b);
    const T quotient = vec::trunc(x / y);
    const T difference = fused_multiply_add(-quotient, y, x);

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
template <class T>
C10_ALWAYS_INLINE T nan_unless(bool certain, T value) {
  return certain ? value : static_cast<T>(__builtin_nan(""));
}

// The operations: `quick` on floats from the parts of a quick division, `exact` from the operands,
// `of_integers` from the parts of an integer division, and `of_floor` from the operands and their
// quotient, where rounding down is what the operation needs.

struct FloorQuotient {
  template <class T, class D>
  static C10_ALWAYS_INLINE T quick(T a, T b, const D& d) {
    const T sign = vec::copysign(T(1), a) * vec::copysign(T(1), b);
    const bool rounds_up = (sign < T(0)) & (d.rest > T(0));
    return nan_unless(d.certain, sign * (d.whole + (rounds_up ? T(1) : T(0))));
  }

  template <class T>
  C10_HOST_DEVICE static T exact(T a, T b) {
    return exact_floor_quotient(a, b);
  }

  template <class T>
  C10_HOST_DEVICE static T of_integers(const Quotient<T>& q, T) {
    return static_cast<T>(q.quotient - (q.rounded_up ? 1 : 0));
  }

  template <class T>
  C10_HOST_DEVICE static T of_floor(T, T, T quotient) {
    return quotient;
  }
};

struct Remainder {
  template <class T, class D>
  static C10_ALWAYS_INLINE T quick(T a, T b, const D& d) {
    return python_modulus(b, nan_unless(d.certain, vec::copysign(T(d.rest), a)));
  }

  template <class T>
  C10_HOST_DEVICE static T exact(T a, T b) {
    return python_modulus(b, vec::fmod(a, b));
  }

  template <class T>
  C10_HOST_DEVICE static T of_integers(const Quotient<T>& q, T b) {
    return static_cast<T>(q.remainder + (q.rounded_up ? b : T(0)));
  }

  template <class T>
  C10_HOST_DEVICE static T of_floor(T a, T b, T quotient) {
    using M = modular_t<T>;
    return static_cast<T>(static_cast<M>(a) - static_cast<M>(quotient) * static_cast<M>(b));
  }
};

struct Fmod {
  template <class T, class D>
  static C10_ALWAYS_INLINE T quick(T a, T, const D& d) {
    return nan_unless(d.certain, vec::copysign(T(d.rest), a));
  }

  template <class T>
  C10_HOST_DEVICE static T exact(T a, T b) {
    return vec::fmod(a, b);
  }

  template <class T>
  C10_HOST_DEVICE static T of_integers(const Quotient<T>& q, T) {
    return q.remainder;
  }
};

/// Of integers only.
struct TruncatedQuotient {
  template <class T>
  C10_HOST_DEVICE static T of_integers(const Quotient<T>& q, T) {
    return q.quotient;
  }
};

/// See Note [Quick division with remainder]. The result is NaN where it needs the exact
/// computation.
template <class Op, class T>
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

// --- Division that does not round ---

struct Division {
  template <class A, class B>
  C10_HOST_DEVICE auto operator()(A a, B b) const {
    return a / b;
  }
};

struct TruncatedDivision {
  template <class A, class B>
  C10_HOST_DEVICE auto operator()(A a, B b) const {
    return vec::trunc(a / b);
  }
};

/// Refuses all rounding modes but 'trunc', and 'floor', which floor_divide serves.
inline void check_truncates(std::string_view rounding_mode) {
  TORCH_CHECK(rounding_mode == "trunc",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '",
              rounding_mode, "'");
}

/// Calls run(functor) with the functor of a / b. `number` is b before it was rounded.
template <class Run>
void with_quotient(ScalarType type, std::optional<float> number, const Run& run) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "div",
                                   [&] { with_rounded<scalar_t, Division>(number, run); });
}

/// The same for the quotient of floats, rounded towards zero.
template <class Run>
void with_truncated_quotient(ScalarType type, const char* op_name, std::optional<float> number,
                             const Run& run) {
  AT_DISPATCH_FLOATING_AND_REDUCED(type, op_name,
                                   [&] { with_rounded<scalar_t, TruncatedDivision>(number, run); });
}

}  // namespace
}  // namespace at::native
