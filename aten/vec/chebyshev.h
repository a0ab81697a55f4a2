// Sums of Chebyshev polynomials.
#pragma once

#include <cstddef>

#include "aten/vec/core.h"

// They need more terms than powers do, but do not cancel, so double results stay exact to a few
// units in the last place. The coefficients were computed with 50 digits from the values of the
// functions at Chebyshev nodes.

#ifdef __CUDACC__
#define AT_VEC_UNROLL _Pragma("unroll")
#else
#define AT_VEC_UNROLL _Pragma("GCC unroll 64")
#endif

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// c[0] T_0(t) + c[1] T_1(t) + ... for t in [-1, 1], by Clenshaw's recurrence.
template <size_t n>
C10_ALWAYS_INLINE double chebyshev(double t, const double (&c)[n]) {
  const double twice = 2.0 * t;
  double next = 0.0, after = 0.0;
  AT_VEC_UNROLL
  for (size_t k = n - 1; k > 0; --k) {
    const double sum = multiply_add(twice, next, c[k] - after);
    after = next;
    next = sum;
  }
  return multiply_add(t, next, c[0] - after);
}

/// The same with coefficients `a` if `choose`, otherwise `b`. A loop over it has no branches.
template <size_t n>
C10_ALWAYS_INLINE double chebyshev(double t, bool choose, const double (&a)[n],
                                   const double (&b)[n]) {
  const double twice = 2.0 * t;
  double next = 0.0, after = 0.0;
  AT_VEC_UNROLL
  for (size_t k = n - 1; k > 0; --k) {
    const double sum = multiply_add(twice, next, (choose ? a[k] : b[k]) - after);
    after = next;
    next = sum;
  }
  return multiply_add(t, next, (choose ? a[0] : b[0]) - after);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
