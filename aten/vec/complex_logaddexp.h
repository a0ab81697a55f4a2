// log(exp(a) + exp(b)) of complex numbers.
#pragma once

#include "aten/vec/math.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// log(exp(a) + exp(b)), computed from the term with the larger real part. If both are infinite, no
/// term can be taken out of the sum.
template <class T>
C10_ALWAYS_INLINE c10::complex<T> logaddexp(c10::complex<T> a, c10::complex<T> b) {
  if (isnan(a) || isnan(b))
    return {static_cast<T>(__builtin_nan("")), static_cast<T>(__builtin_nan(""))};

  const c10::complex<T> large = a.real() >= b.real() ? a : b;
  const c10::complex<T> small = a.real() >= b.real() ? b : a;
  if (large.real() == small.real() && !isfinite(large.real()))
    return large.real() < T(0) ? large : log(exp(a) + exp(b));
  return large + log1p(exp(small - large));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
