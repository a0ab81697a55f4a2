// Operations on the bits of integers and truth values.
#pragma once

#include <concepts>

#include "aten/vec/core.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <std::integral T>
C10_ALWAYS_INLINE T bitwise_and(T x, T y) {
  return static_cast<T>(x & y);
}
template <std::integral T>
C10_ALWAYS_INLINE T bitwise_or(T x, T y) {
  return static_cast<T>(x | y);
}
template <std::integral T>
C10_ALWAYS_INLINE T bitwise_xor(T x, T y) {
  return static_cast<T>(x ^ y);
}
/// The negation of a truth value.
template <std::integral T>
C10_ALWAYS_INLINE T bitwise_not(T x) {
  if constexpr (std::same_as<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
