#pragma once
// The next scale of a GradScaler.
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {

/// An overflow shrinks the scale; `interval` steps in a row without one let it grow.
struct ScaleUpdate {
  double growth, backoff;
  int64_t interval;

  /// `tracker` counts the steps without overflow.
  C10_ALWAYS_INLINE void apply(float& scale, int32_t& tracker, bool overflowed) const {
    if (overflowed) {
      scale = static_cast<float>(scale * backoff);
      tracker = 0;
      return;
    }

    const int64_t successes = int64_t{tracker} + 1;
    if (successes != interval) {
      tracker = static_cast<int32_t>(successes);
      return;
    }

    const float larger = static_cast<float>(scale * growth);
    if (is_finite(larger)) scale = larger;
    tracker = 0;
  }

  template <typename T>
  C10_ALWAYS_INLINE static bool is_finite(T value) {
    return value - value == 0;  // NaN for infinities and NaN
  }
};

}  // namespace at::native
