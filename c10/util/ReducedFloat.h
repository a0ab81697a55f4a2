// Arithmetic that Half and BFloat16 share.
#pragma once

#include <type_traits>

#include "c10/util/Export.h"

// Both are 16-bit storage types that compute in float. Arithmetic between two of a kind rounds back
// to the kind after each operation; mixed with float or double the result has that type; an integer
// operand is converted to the kind first.

namespace c10 {

template <class T>
inline constexpr bool is_reduced_floating_point_v = false;
template <class T>
concept ReducedFloat = is_reduced_floating_point_v<T>;

namespace detail {
C10_HOST_DEVICE constexpr float float_of_bits(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}
C10_HOST_DEVICE constexpr unsigned bits_of_float(float value) {
  return __builtin_bit_cast(unsigned, value);
}
}  // namespace detail

#define C10_REDUCED_FLOAT_OPERATOR(OP)                            \
  template <ReducedFloat R>                                       \
  C10_HOST_DEVICE constexpr R operator OP(R a, R b) {             \
    return R(static_cast<float>(a) OP static_cast<float>(b));     \
  }                                                               \
  template <ReducedFloat R, class T>                              \
    requires std::is_floating_point_v<T>                          \
  C10_HOST_DEVICE constexpr T operator OP(R a, T b) {             \
    return static_cast<T>(static_cast<float>(a)) OP b;            \
  }                                                               \
  template <ReducedFloat R, class T>                              \
    requires std::is_floating_point_v<T>                          \
  C10_HOST_DEVICE constexpr T operator OP(T a, R b) {             \
    return a OP static_cast<T>(static_cast<float>(b));            \
  }                                                               \
  template <ReducedFloat R, class T>                              \
    requires std::is_integral_v<T>                                \
  C10_HOST_DEVICE constexpr R operator OP(R a, T b) {             \
    return a OP R(static_cast<float>(b));                         \
  }                                                               \
  template <ReducedFloat R, class T>                              \
    requires std::is_integral_v<T>                                \
  C10_HOST_DEVICE constexpr R operator OP(T a, R b) {             \
    return R(static_cast<float>(a)) OP b;                         \
  }                                                               \
  template <ReducedFloat R, class T>                              \
    requires(std::is_same_v<T, R> || std::is_arithmetic_v<T>)     \
  C10_HOST_DEVICE constexpr R& operator OP## = (R & a, T b) {     \
    return a = R(static_cast<float>(a) OP static_cast<float>(b)); \
  }
C10_REDUCED_FLOAT_OPERATOR(+)
C10_REDUCED_FLOAT_OPERATOR(-)
C10_REDUCED_FLOAT_OPERATOR(*)
C10_REDUCED_FLOAT_OPERATOR(/)
#undef C10_REDUCED_FLOAT_OPERATOR

/// Flips only the sign bit, also of NaN.
template <ReducedFloat R>
C10_HOST_DEVICE constexpr R operator-(R a) {
  return R::from_bits(static_cast<unsigned short>(a.x ^ 0x8000u));
}
template <ReducedFloat R>
C10_HOST_DEVICE constexpr R operator+(R a) {
  return a;
}

}  // namespace c10
