// Counters that torch.cuda.memory_stats shows.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace c10::cuda {

/// A quantity, its peak, and all that was ever added and subtracted.
struct Counter {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;

  void add(int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    allocated += amount;
  }
  void subtract(int64_t amount) {
    current -= amount;
    freed += amount;
  }
};

/// How long calls of the driver took, in microseconds.
struct CallTimes {
  int64_t count = 0;
  int64_t total = 0;
  int64_t least = 0;
  int64_t most = 0;

  void add(int64_t microseconds) {
    least = count == 0 ? microseconds : std::min(least, microseconds);
    most = std::max(most, microseconds);
    total += microseconds;
    ++count;
  }
};

/// A counter for each kind of pool and for both together.
struct CounterByKind {
  Counter all;
  Counter small;
  Counter large;

  void add(bool is_small, int64_t amount) {
    all.add(amount);
    (is_small ? small : large).add(amount);
  }
  void subtract(bool is_small, int64_t amount) {
    all.subtract(amount);
    (is_small ? small : large).subtract(amount);
  }
};

using NamedNumbers = std::vector<std::pair<std::string, int64_t>>;

/// The statistics of one device. "Active" blocks are those allocated: a freed block can be reused
/// at once. A segment is a granule, or what one cudaMalloc returned.
struct Statistics {
  CounterByKind allocation;
  CounterByKind allocated_bytes;
  CounterByKind requested_bytes;
  CounterByKind segment;
  CounterByKind reserved_bytes;
  CounterByKind inactive_split;        // free blocks that cannot be given back by themselves
  CounterByKind inactive_split_bytes;  // of them, without the granules that can
  int64_t alloc_retries = 0;           // requests for which cached memory had to be given back
  int64_t ooms = 0;
  int64_t device_allocs = 0;
  int64_t device_frees = 0;
  int64_t sync_all_streams = 0;

  void reset_peaks();
  void reset_accumulated();
  /// Sorted by name.
  NamedNumbers named() const;
};

}  // namespace c10::cuda
