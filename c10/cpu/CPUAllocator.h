// The caching allocator of host memory, its statistics and limits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "c10/core/Allocator.h"

namespace c10 {

/// Blocks of the CPU allocator start at multiples of this: a cache line and the widest vector.
inline constexpr size_t kCPUAlignment = 64;

/// Byte counts are those of blocks: requests rounded up to a size class, and bodies of tensors.
struct CPUAllocatorStatistics {
  int64_t allocated_bytes = 0;      ///< in use now
  int64_t cached_bytes = 0;         ///< free, kept for reuse
  int64_t reserved_bytes = 0;       ///< taken from the system: in use and cached
  int64_t peak_reserved_bytes = 0;  ///< highest value of reserved_bytes
  int64_t allocations = 0;          ///< calls of allocate()
  int64_t system_allocations = 0;   ///< those that no cache could serve
};

/// The caching allocator of host memory; see Note [CPU memory cache].
TORCH_PY_API Allocator& cpu_allocator();
/// Whether memory is a block of it, from the first byte on.
TORCH_PY_API bool is_cpu_block(const DataPtr& data);
TORCH_PY_API CPUAllocatorStatistics cpu_allocator_statistics();
/// Returns the calling thread's and the shared cached blocks to the system. Other threads keep
/// theirs until they exit.
TORCH_PY_API void cpu_empty_cache();
/// Sets how many bytes the shared cache keeps at most, whatever was in use recently; 0 disables
/// caching. Default: TORCH_PY_CPU_CACHE_LIMIT (bytes, or with suffix K, M, G), otherwise a quarter
/// of the memory that the process may use.
TORCH_PY_API void cpu_set_cache_limit(size_t bytes);

}  // namespace c10
