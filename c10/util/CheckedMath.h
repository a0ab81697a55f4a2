// Integer arithmetic on numbers that users choose: sizes, strides, counts. Signed overflow is
// undefined in C++, so results that int64_t does not hold are refused or wrap around.
#pragma once
#include <cstdint>
#include <type_traits>

#include "c10/util/Exception.h"

namespace c10 {

// Refusing. `name` is the operator's, for the message.

inline int64_t checked_add(const char* name, int64_t a, int64_t b) {
  int64_t sum = 0;
  TORCH_CHECK(!__builtin_add_overflow(a, b, &sum), name, ": sizes overflow: ", a, " + ", b);
  return sum;
}

inline int64_t checked_subtract(const char* name, int64_t a, int64_t b) {
  int64_t difference = 0;
  TORCH_CHECK(!__builtin_sub_overflow(a, b, &difference), name, ": sizes overflow: ", a, " - ", b);
  return difference;
}

inline int64_t checked_multiply(const char* name, int64_t a, int64_t b) {
  int64_t product = 0;
  TORCH_CHECK(!__builtin_mul_overflow(a, b, &product), name, ": sizes overflow: ", a, " * ", b);
  return product;
}

// Wrapping: for numbers that nobody reads, such as the strides of empty tensors. Elements of
// tensors have functions of their own (aten/vec/wrapping.h).

template <class T>
C10_ALWAYS_INLINE constexpr T wrapping_add(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}

template <class T>
C10_ALWAYS_INLINE constexpr T wrapping_subtract(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}

template <class T>
C10_ALWAYS_INLINE constexpr T wrapping_multiply(T a, T b) {
  // Small unsigned types would be promoted to int, in which a product can overflow.
  using Unsigned = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

template <class T>
C10_ALWAYS_INLINE constexpr T wrapping_negate(T a) {
  return wrapping_subtract(T(0), a);
}

}  // namespace c10
