// Arithmetic for formulas over all dtypes: integers wrap around, as they do in tensors.
#pragma once

#include <type_traits>

#include "aten/vec/core.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

// Overflow of signed integers is undefined in C++. The unsigned result has the same bits. Small
// types are widened to int first, in which the product of two uint16_t overflows as well.
template <class T>
inline constexpr bool kCanOverflow = std::is_integral_v<T> && std::is_signed_v<T>;

template <class A, class B>
C10_ALWAYS_INLINE auto wrapping_sum(A a, B b) {
  using Result = decltype(a + b);
  if constexpr (kCanOverflow<Result>) {
    using Bits = std::make_unsigned_t<Result>;
    return static_cast<Result>(static_cast<Bits>(a) + static_cast<Bits>(b));
  } else {
    return a + b;
  }
}

template <class A, class B>
C10_ALWAYS_INLINE auto wrapping_difference(A a, B b) {
  using Result = decltype(a - b);
  if constexpr (kCanOverflow<Result>) {
    using Bits = std::make_unsigned_t<Result>;
    return static_cast<Result>(static_cast<Bits>(a) - static_cast<Bits>(b));
  } else {
    return a - b;
  }
}

template <class A, class B>
C10_ALWAYS_INLINE auto wrapping_product(A a, B b) {
  using Result = decltype(a * b);
  if constexpr (kCanOverflow<Result>) {
    using Bits = std::make_unsigned_t<Result>;
    return static_cast<Result>(static_cast<Bits>(a) * static_cast<Bits>(b));
  } else {
    return a * b;
  }
}

template <class T>
C10_ALWAYS_INLINE auto wrapping_negative(T x) {
  using Result = decltype(-x);
  if constexpr (kCanOverflow<Result>) {
    using Bits = std::make_unsigned_t<Result>;
    return static_cast<Result>(Bits{0} - static_cast<Bits>(x));
  } else {
    return -x;
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
