// log2(2^a + 2^b) of real numbers.
#pragma once

#include "aten/vec/exponential.h"

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// log2(2^a + 2^b). Equal infinities stay as they are.
C10_ALWAYS_INLINE float logaddexp2(float a, float b) {
  const float result = maximum(a, b) + log1p(exp2(-abs(a - b))) * static_cast<float>(kLog2E);
  return a == b ? a + 1.0f : result;
}
C10_ALWAYS_INLINE double logaddexp2(double a, double b) {
  const double result = maximum(a, b) + log1p(exp2(-abs(a - b))) * kLog2E;
  return a == b ? a + 1.0 : result;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
