// Reductions in the loops of compiled programs. Each of `n` lanes combines every n-th element, so
// that a loop over lanes is vector code without any change of the order of additions.
#pragma once

#include "aten/vec/core.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// The lanes combined to one value, halves with halves.
template <class T, int n, class Combine>
C10_ALWAYS_INLINE T combined(const T (&lanes)[n], const Combine& combine) {
  T values[n];
  for (int lane = 0; lane < n; ++lane) values[lane] = lanes[lane];
  for (int half = n / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      values[lane] = combine(values[lane], values[lane + half]);
    }
  }
  return values[0];
}

/// Together with the rest of a row, which does not fill the lanes.
template <class T, int n, class Combine>
C10_ALWAYS_INLINE T combined(const T (&lanes)[n], T rest, const Combine& combine) {
  return combine(combined(lanes, combine), rest);
}

/// Sets all lanes to the value that changes nothing when it is combined with another.
template <class T, int n>
C10_ALWAYS_INLINE void fill(T (&lanes)[n], T value) {
  for (int lane = 0; lane < n; ++lane) lanes[lane] = value;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
