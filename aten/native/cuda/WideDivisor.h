// Division of 64-bit indices, which are mostly small, by numbers that are known before the launch.
#pragma once
#include "aten/native/cuda/Division.h"

namespace at::native::cuda {

/// A multiplication and a shift below 2^31, a division above.
class WideDivisor {
 public:
  WideDivisor() = default;
  explicit WideDivisor(int64_t divisor) : divisor_(divisor) {
    if (divisor < kNarrow) narrow_ = Divisor(static_cast<uint32_t>(divisor));
  }

  C10_HOST_DEVICE int64_t quotient(int64_t n) const {
    if (n < kNarrow && divisor_ < kNarrow) return narrow_.quotient(static_cast<uint32_t>(n));
    return n / divisor_;
  }
  C10_HOST_DEVICE int64_t remainder(int64_t n) const { return n - quotient(n) * divisor_; }
  C10_HOST_DEVICE int64_t value() const { return divisor_; }

 private:
  static constexpr int64_t kNarrow = int64_t{1} << 31;

  int64_t divisor_ = 1;
  Divisor narrow_ = Divisor(1);
};

}  // namespace at::native::cuda
