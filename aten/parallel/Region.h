// One parallel loop: its ranges, and the threads that work on them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "aten/parallel/Parallel.h"

namespace at::internal {

/// Lives on the stack of the thread that asks for the loop.
///
/// Each participant starts with a section of neighbouring ranges of its own, so that the same
/// thread tends to see the same memory from loop to loop, and then takes ranges from the sections
/// of the others. A thread whose core is busy with something else thus costs its share, not a wait.
class Region {
 public:
  static constexpr int kMostThreads = 256;
  // Enough that a slow thread holds up the others for a quarter of its section only.
  static constexpr int64_t kRangesPerThread = 4;

  Region(int threads, int64_t begin, int64_t end, int64_t grain_size, RangeFunction function)
      : function_(function),
        begin_(begin),
        length_(end - begin),
        sections_(std::min(threads, kMostThreads)),
        ranges_(std::clamp<int64_t>(length_ / std::max<int64_t>(1, grain_size), 1,
                                    kRangesPerThread * sections_)) {
    for (int section = 0; section < sections_; ++section)
      counters_[section].next = first_range(section);
  }

  int most_threads() const { return sections_; }

  /// Whether a range is left that nobody has begun.
  bool has_work() const {
    if (failed_.load(std::memory_order_relaxed)) return false;
    for (int section = 0; section < sections_; ++section) {
      if (next_range(section).load(std::memory_order_relaxed) < first_range(section + 1))
        return true;
    }
    return false;
  }

  /// Runs ranges until none is left, as the participant number `index`.
  void work(int index) {
    for (int i = 0; i < sections_; ++i) work_through((index + i) % sections_);
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  // --- For the pool, under its mutex ---

  Region* next = nullptr;  // the next region that has work to give away
  int joined = 1;          // how many threads have come; the first is the caller

  /// Workers inside. The region may end when it is 0 and no more can come.
  std::atomic<int> inside{0};

 private:
  /// On a cache line of its own: threads count their sections up without disturbing one another.
  struct alignas(64) Counter {
    int64_t next;  // only the counters of this region's sections are initialized
  };

  int64_t first_range(int section) const { return ranges_ * section / sections_; }
  std::atomic_ref<int64_t> next_range(int section) const {
    return std::atomic_ref<int64_t>(counters_[section].next);
  }

  void work_through(int section) {
    const int64_t last = first_range(section + 1);
    const std::atomic_ref<int64_t> next = next_range(section);

    while (next.load(std::memory_order_relaxed) < last) {
      const int64_t range = next.fetch_add(1, std::memory_order_relaxed);
      if (range >= last || failed_.load(std::memory_order_relaxed)) return;
      run(range);
    }
  }

  void run(int64_t range) {
    // The first `rest` ranges have one element more.
    const int64_t size = length_ / ranges_;
    const int64_t rest = length_ % ranges_;
    const int64_t first = begin_ + range * size + std::min(range, rest);

    try {
      function_(first, first + size + (range < rest));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  const RangeFunction function_;
  const int64_t begin_;
  const int64_t length_;
  const int sections_;
  const int64_t ranges_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  mutable Counter counters_[kMostThreads];
};

}  // namespace at::internal
