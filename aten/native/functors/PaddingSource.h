#pragma once
// Where padding takes its elements from, along one dimension, for host and device.
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {

enum class PaddingMode : uint8_t { Reflect, Replicate, Circular };

/// The dimension of an input of `in` elements to which `before` and `after` elements are added, or
/// removed if negative.
struct PaddedAxis {
  PaddingMode mode = PaddingMode::Replicate;
  int64_t in = 1, before = 0, after = 0;

  C10_HOST_DEVICE int64_t out() const { return in + before + after; }

  // With a negative width, circular padding repeats only the elements that remain; the other modes
  // may take elements that were cut off.
  C10_HOST_DEVICE int64_t kept_begin() const { return before < 0 ? -before : 0; }
  C10_HOST_DEVICE int64_t kept_size() const { return in - kept_begin() - (after < 0 ? -after : 0); }

  /// The element of the input at place j of the result.
  C10_HOST_DEVICE int64_t source(int64_t j) const {
    const int64_t position = j - before;
    if (mode == PaddingMode::Replicate) return position < 0 ? 0 : position < in ? position : in - 1;
    if (mode == PaddingMode::Circular) {
      const int64_t rest = (position - kept_begin()) % kept_size();
      return kept_begin() + (rest < 0 ? rest + kept_size() : rest);
    }

    const int64_t distance = position < 0 ? -position : position;
    return in - 1 - (in - 1 < distance ? distance - (in - 1) : in - 1 - distance);
  }
};

}  // namespace at::native
