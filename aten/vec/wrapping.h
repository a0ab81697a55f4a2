// Sums and products of formulas over all dtypes. Integers wrap around, computed as unsigned ones,
// because signed overflow is undefined in C++.
#pragma once
#include <concepts>
#include <type_traits>

#include "aten/vec/core.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// Small types are widened to unsigned, because C++ would widen them to int.
template <std::signed_integral T>
using wrapping_t = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class A, class B>
C10_ALWAYS_INLINE auto add(A a, B b) {
  if constexpr (std::signed_integral<A>) {
    return static_cast<A>(static_cast<wrapping_t<A>>(a) + static_cast<wrapping_t<A>>(b));
  } else {
    return a + b;
  }
}
template <class A, class B>
C10_ALWAYS_INLINE auto subtract(A a, B b) {
  if constexpr (std::signed_integral<A>) {
    return static_cast<A>(static_cast<wrapping_t<A>>(a) - static_cast<wrapping_t<A>>(b));
  } else {
    return a - b;
  }
}
template <class A, class B>
C10_ALWAYS_INLINE auto multiply(A a, B b) {
  if constexpr (std::signed_integral<A>) {
    return static_cast<A>(static_cast<wrapping_t<A>>(a) * static_cast<wrapping_t<A>>(b));
  } else {
    return a * b;
  }
}
template <class T>
C10_ALWAYS_INLINE auto negate(T x) {
  if constexpr (std::signed_integral<T>) {
    return static_cast<T>(wrapping_t<T>(0) - static_cast<wrapping_t<T>>(x));
  } else {
    return -x;
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
