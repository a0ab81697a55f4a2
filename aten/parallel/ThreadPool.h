// The worker threads behind parallel_for.
#pragma once

#include <cstdint>

#include "aten/parallel/Parallel.h"

namespace at::internal {

/// Calls `function` for the ranges that [begin, end) is cut into, on the calling thread and on as
/// many workers as come in time, `threads` in all at most. Every range has at least `grain_size`
/// elements. Returns when all ranges have ended, and rethrows the first exception of any; what has
/// not begun by then is left out. Several threads may call it at once.
void run_on_pool(int threads, int64_t begin, int64_t end, int64_t grain_size,
                 RangeFunction function);

/// The index of the calling thread among those that work on its region; -1 outside of regions.
int index_in_region();

/// Counts set_num_threads(): threads that the system refused are asked for again after it.
void ask_again_for_threads();

/// Marks the calling thread as working inside a region, for a scope.
class RegionGuard {
 public:
  explicit RegionGuard(int index);
  ~RegionGuard();
  RegionGuard(const RegionGuard&) = delete;
  RegionGuard& operator=(const RegionGuard&) = delete;

 private:
  int previous_;
};

}  // namespace at::internal
