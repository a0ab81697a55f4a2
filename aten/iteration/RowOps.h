#pragma once
// How the elements of a row become one number.
#include <cstdint>
#include <limits>

#include "aten/vec/math.h"
#include "aten/vec/wrapping.h"
#include "c10/util/Export.h"
#include "c10/util/complex.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// The number of elements that a planned reduction makes one result of.
template <class Iterator>
int64_t elements_of_row(const Iterator& iter) {
  const int64_t results = iter.output().numel();
  return results == 0 ? 0 : iter.numel() / results;
}

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

// An extremum is NaN if an element is. In two selections, as chains of calls with `||` do not
// vectorise: a NaN in `a` stays, as it compares with nothing; whether `b` is one does not depend on
// the elements before.

struct RowMaximum {
  template <class T>
  static constexpr T kStart =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                           : std::numeric_limits<T>::lowest();
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    const T larger = b > a ? b : a;
    return b != b ? b : larger;
  }
};

struct RowMinimum {
  template <class T>
  static constexpr T kStart =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                           : std::numeric_limits<T>::max();
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    const T smaller = b < a ? b : a;
    return b != b ? b : smaller;
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

/// What Op starts with. Devices have numbers as constants, but not complex ones.
template <class Op, class T>
C10_ALWAYS_INLINE T row_start() {
  return static_cast<T>(Op::template kStart<c10::scalar_value_type_t<T>>);
}

/// Op of numbers that are real in a formula of complex ones, as their absolute values are.
template <class Op>
struct RowReal {
  template <class T>
  static constexpr T kStart = Op::template kStart<T>;
  template <class T>
  C10_ALWAYS_INLINE static T combine(T a, T b) {
    if constexpr (c10::is_complex_v<T>) return T(Op::combine(a.real(), b.real()));
    else return Op::combine(a, b);
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
