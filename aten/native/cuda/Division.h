// Division of indices by numbers that are known before the launch.
#pragma once
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native::cuda {

/// Divides numbers below 2^31 by a multiplication and a shift, a fraction of what a division costs.
///
/// With s = ceil(log2(d)), the multiplier is floor(2^32 (2^s - d) / d) + 1: n / d is then the high
/// word of n * multiplier, plus n, shifted down by s. The sum fits 32 bits because n < 2^31.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(uint32_t divisor) : divisor_(divisor) {
    while (shift_ < 32 && (uint64_t{1} << shift_) < divisor) ++shift_;
    const uint64_t excess = (uint64_t{1} << shift_) - divisor;
    multiplier_ = static_cast<uint32_t>((excess << 32) / divisor + 1);
  }

  C10_HOST_DEVICE uint32_t quotient(uint32_t n) const {
    const auto high = static_cast<uint32_t>((static_cast<uint64_t>(n) * multiplier_) >> 32);
    return (high + n) >> shift_;
  }
  C10_HOST_DEVICE uint32_t value() const { return divisor_; }

 private:
  uint32_t divisor_ = 1;
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

}  // namespace at::native::cuda
