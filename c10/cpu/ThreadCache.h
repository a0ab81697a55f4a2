// Small blocks from the lists of the calling thread, inline: internal to c10.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/cpu/BlockCache.h"
#include "c10/util/Export.h"

// See Note [CPU memory cache].

namespace c10::block_cache {

constexpr size_t kThreadCacheBytes = size_t{32} << 20;  // per thread, over all classes
constexpr size_t kThreadListBytes = size_t{2} << 20;    // per thread and class
constexpr uint32_t kThreadListBlocks = 512;
constexpr int64_t kSweepInterval = 4096;  // allocations

// The cache of this thread: null before first use and after thread exit. One pointer, with the
// initial-exec model, which makes an access one instruction.
extern thread_local constinit __attribute__((tls_model("initial-exec"))) ThreadCache* thread_cache;

/// The limit of a thread's cached bytes; 0 while caching is off.
extern std::atomic<size_t> thread_cache_bytes;

constexpr auto kListCapacity = [] {
  std::array<uint32_t, kClasses> capacity{};
  for (int index = 0; index < kClasses; ++index) {
    capacity[index] = static_cast<uint32_t>(
        std::clamp<size_t>(kThreadListBytes / class_bytes(index), 2, kThreadListBlocks));
  }
  return capacity;
}();

/// Takes a block from the shared cache, with some more for the thread's list, or from the system.
void* allocate_small_slowly(int index);
/// Frees a small block when the thread has no cache or enough cached.
void free_small_slowly(void* data, int index);
/// Gives the calling thread's blocks to the shared cache.
void empty_thread_cache();

inline void* allocate_small(int index) {
  ThreadCache* const cache = thread_cache;
  if (C10_UNLIKELY(cache == nullptr || cache->lists[index] == nullptr))
    return allocate_small_slowly(index);

  FreeBlock* const block = cache->lists[index];
  cache->lists[index] = block->next;
  --cache->counts[index];
  cache->cached_bytes -= class_bytes(index);
  cache->allocated_bytes.add(static_cast<int64_t>(class_bytes(index)));
  cache->allocations.add(1);
  if (C10_UNLIKELY(cache->allocations.get() % kSweepInterval == 0)) SharedCache::get().sweep();

  return block;
}

inline void free_small(void* data, int index) {
  ThreadCache* const cache = thread_cache;
  if (C10_UNLIKELY(cache == nullptr || cache->counts[index] >= kListCapacity[index] ||
                   cache->cached_bytes >= thread_cache_bytes.load(std::memory_order_relaxed))) {
    return free_small_slowly(data, index);
  }

  auto* const block = static_cast<FreeBlock*>(data);
  block->next = cache->lists[index];
  cache->lists[index] = block;
  ++cache->counts[index];
  cache->cached_bytes += class_bytes(index);
  cache->allocated_bytes.add(-static_cast<int64_t>(class_bytes(index)));
}

}  // namespace c10::block_cache
