#pragma once
// The loop over independent accumulators.
#include <cstdint>

#include "c10/util/Export.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Calls f(j) for every accumulator. Loops that are short enough are unrolled before the compiler
/// looks for vectors, and then it does not find any.
template <int64_t kCount, typename F>
C10_ALWAYS_INLINE void for_each_lane(const F& f) {
  if constexpr (kCount > 16) {
#pragma GCC ivdep
    for (int64_t j = 0; j < kCount; ++j) f(j);
  } else {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t j = 0; j < kCount; ++j) f(j);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
