// The largest value that a quantity had in the last seconds.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace c10 {

/// The peak of a quantity over the last ten seconds, in buckets of one second. Times are in
/// milliseconds and do not decrease; between two records the quantity keeps its value.
class RecentPeak {
 public:
  void record(int64_t now, int64_t value) {
    const int64_t second = now / 1000;
    if (second != second_) advance(second);

    int64_t& bucket = buckets_[static_cast<size_t>(second % kSeconds)];
    bucket = std::max(bucket, value);
    peak_ = std::max(peak_, value);
    latest_ = value;
  }

  int64_t get() const { return peak_; }

 private:
  static constexpr int64_t kSeconds = 10;

  /// The seconds that have passed had the latest value.
  void advance(int64_t second) {
    const int64_t first = std::max(second_ + 1, second - kSeconds + 1);
    for (int64_t passed = first; passed <= second; ++passed)
      buckets_[static_cast<size_t>(passed % kSeconds)] = latest_;

    second_ = second;
    peak_ = *std::max_element(buckets_.begin(), buckets_.end());
  }

  std::array<int64_t, kSeconds> buckets_{};
  int64_t second_ = 0;
  int64_t latest_ = 0;
  int64_t peak_ = 0;
};

}  // namespace c10
