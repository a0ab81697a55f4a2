// Greatest common divisors and least common multiples of integers.
#pragma once

#include <concepts>
#include <type_traits>

#include "aten/vec/core.h"

// Results that do not fit wrap around.

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <std::integral T>
C10_ALWAYS_INLINE std::make_unsigned_t<T> unsigned_magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(U(0) - static_cast<U>(x)) : static_cast<U>(x);
}

template <std::integral T>
AT_VEC_CALLED T gcd(T x, T y) {
  auto a = unsigned_magnitude(x);
  auto b = unsigned_magnitude(y);
  while (b != 0) {
    const auto rest = static_cast<decltype(a)>(a % b);
    a = b;
    b = rest;
  }
  return static_cast<T>(a);
}

/// Not negative if it fits. Products of small types are formed in int, others in their own type.
template <std::integral T>
AT_VEC_CALLED T lcm(T x, T y) {
  const T divisor = gcd(x, y);
  if (divisor == 0) return 0;
  const uint64_t product =
      uint64_t{unsigned_magnitude(x)} / unsigned_magnitude(divisor) * unsigned_magnitude(y);
  if constexpr (sizeof(T) < 4) return static_cast<T>(product);
  return static_cast<T>(unsigned_magnitude(static_cast<T>(product)));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
