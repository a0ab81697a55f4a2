// Conversions of real numbers to integers, for the loops of compiled programs.
#pragma once

#include <cstdint>

#include "aten/vec/core.h"

namespace at::vec {

// None, which the compiler cannot know: a library may have another variable of this name. It is of
// a type of its own, so that no loop stores to it.
enum class Bits : int32_t { None };
inline Bits no_bits = Bits::None;

inline namespace CPU_CAPABILITY {

/// The integer, of 32 or 64 bits, that a conversion gives. GCC takes the way to an integer and back
/// for trunc() where operations do not trap, although the integer has neither a sign of zero nor
/// room for all numbers.
template <class T, class Real>
C10_ALWAYS_INLINE T truncated(Real x) {
  return static_cast<T>(x) ^ static_cast<T>(no_bits);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
