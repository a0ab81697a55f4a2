#pragma once
// How the elements of a row become one number.
#include <limits>

#include "aten/vec/math.h"
#include "aten/vec/wrapping.h"
#include "c10/util/Export.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

struct RowSum {
  template <class T>
  static constexpr T kStart = T(0);
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return static_cast<T>(vec::wrapping_sum(a, b));
  }
};

struct RowProduct {
  template <class T>
  static constexpr T kStart = T(1);
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return static_cast<T>(vec::wrapping_product(a, b));
  }
};

/// NaN if an element is.
struct RowMaximum {
  template <class T>
  static constexpr T kStart =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                           : std::numeric_limits<T>::lowest();
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return vec::maximum(a, b);
  }
};

struct RowMinimum {
  template <class T>
  static constexpr T kStart =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                           : std::numeric_limits<T>::max();
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return vec::minimum(a, b);
  }
};

// Truth values are 0 and 1.

struct RowAny {
  template <class T>
  static constexpr T kStart = T(0);
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return a > b ? a : b;
  }
};

struct RowAll {
  template <class T>
  static constexpr T kStart = T(1);
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    return a < b ? a : b;
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
