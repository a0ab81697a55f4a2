// The caching allocator of host memory.
#include "c10/cpu/CPUAllocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "c10/cpu/BlockCache.h"
#include "c10/cpu/WatchedBlocks.h"
#include "c10/util/Exception.h"

// Note [CPU memory cache]
// Fresh memory is expensive twice: the system call, and a page fault for every 4 KiB written for
// the first time. Freed blocks are therefore kept.
//
//  * Small blocks (up to 1 MiB) belong to one of 52 size classes, four per power of two. Each
//    thread keeps a list per class and uses it without locks. Lists that grow too long give half
//    to the shared lists; empty ones are refilled from there.
//  * Large blocks are rounded to eight sizes per power of two and wait in a shared container,
//    ordered by size. A request takes the smallest block that fits unless it would waste more
//    than a quarter.
//
// What is kept follows from recent use. A large block that nobody wanted for a second goes back to
// the system. So do the longest unused ones, then small ones, while the memory taken from the
// system is more than twice the most that was in use within ten seconds (at least 32 MiB), or the
// cache exceeds its limit. There is no timer: frees and allocations by the shared cache look, and
// every 4096th allocation of a thread. Pauses between them count as a quarter of a second at most,
// so that a step that follows one finds its blocks. A fork empties the cache, and the child starts
// to count anew, without the blocks that it inherits.
//
// Freeing needs neither a header in front of the block nor a look-up: DataPtr's context holds the
// class of a small block in its low bits (blocks are 64-byte aligned), and points to the descriptor
// of a large block. Tested in tests/c10/test_allocator.py.

namespace c10 {

using namespace block_cache;

namespace {

constexpr size_t kThreadCacheBytes = size_t{32} << 20;  // per thread, over all classes
constexpr size_t kThreadListBytes = size_t{2} << 20;    // per thread and class
constexpr uint32_t kThreadListBlocks = 512;
constexpr int64_t kSweepInterval = 4096;  // allocations
constexpr int kLeastWatchedClass = class_of(kLeastWatchedBytes);

/// Eight sizes per power of two.
constexpr size_t round_large(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// The cache of this thread: null before first use and after thread exit. One pointer, with the
// initial-exec model, which makes an access one instruction.
thread_local constinit __attribute__((tls_model("initial-exec"))) ThreadCache* thread_cache =
    nullptr;
thread_local constinit bool thread_exiting = false;

/// Creates the cache on first use and gives it up when the thread exits.
struct ThreadCacheOwner {
  ThreadCache cache;

  ThreadCacheOwner() {
    SharedCache::get().enter(&cache);
    thread_cache = &cache;
  }

  ~ThreadCacheOwner() {
    thread_cache = nullptr;
    thread_exiting = true;  // destructors that run later use the shared cache directly
    SharedCache::get().leave(&cache);
  }
};

ThreadCache* make_thread_cache() {
  if (thread_exiting) return nullptr;
  thread_local ThreadCacheOwner owner;
  return &owner.cache;
}

std::atomic<size_t> thread_cache_bytes{kThreadCacheBytes};  // 0 when caching is off

/// Gives all but the first `keep` blocks of a list to the shared cache.
void flush(ThreadCache& cache, int index, uint32_t keep) {
  FreeBlock** tail = &cache.lists[index];
  for (uint32_t i = 0; i < keep && *tail; ++i) tail = &(*tail)->next;
  FreeBlock* const surplus = *tail;
  if (!surplus) return;

  *tail = nullptr;
  const uint32_t count = cache.counts[index] - keep;
  cache.counts[index] = keep;
  cache.cached_bytes -= count * class_bytes(index);
  SharedCache::get().give_small(index, surplus, count);
}

constexpr uint32_t list_capacity(int index) {
  return static_cast<uint32_t>(
      std::clamp<size_t>(kThreadListBytes / class_bytes(index), 2, kThreadListBlocks));
}
constexpr auto kListCapacity = [] {
  std::array<uint32_t, kClasses> capacity{};
  for (int index = 0; index < kClasses; ++index) capacity[index] = list_capacity(index);
  return capacity;
}();

/// Takes a block from the shared cache, with some more for the thread's list, or from the system.
C10_NOINLINE void* allocate_small_slowly(int index) {
  SharedCache& shared = SharedCache::get();
  ThreadCache* cache = thread_cache ? thread_cache : make_thread_cache();
  uint32_t taken = 0;
  FreeBlock* block =
      shared.take_small(index, cache ? std::max(1u, kListCapacity[index] / 4) : 1, taken);
  if (!block) block = static_cast<FreeBlock*>(shared.system_allocate(class_bytes(index)));

  const auto bytes = static_cast<int64_t>(class_bytes(index));

  if (!cache) {
    shared.count_outside(bytes, true);
    return block;
  }

  if (taken > 1) {
    cache->lists[index] = block->next;
    cache->counts[index] = taken - 1;
    cache->cached_bytes += (taken - 1) * class_bytes(index);
  }

  cache->allocated_bytes.add(bytes);
  cache->allocations.add(1);
  return block;
}

/// Frees a small block when the thread has no cache or enough cached.
C10_NOINLINE void free_small_slowly(void* data, int index) {
  SharedCache& shared = SharedCache::get();
  ThreadCache* cache = thread_cache ? thread_cache : make_thread_cache();
  const auto bytes = static_cast<int64_t>(class_bytes(index));

  if (cache) {
    cache->allocated_bytes.add(-bytes);
  } else {
    shared.count_outside(-bytes, false);
  }

  if (!shared.enabled()) return shared.system_free(data, class_bytes(index));

  // Above its limit for all classes, the thread gives three quarters of every list away; otherwise
  // half of this one.
  if (cache && cache->cached_bytes >= thread_cache_bytes.load(std::memory_order_relaxed)) {
    for (int i = 0; i < kClasses; ++i) flush(*cache, i, cache->counts[i] / 4);
  } else if (cache) {
    flush(*cache, index, cache->counts[index] / 2);
  }

  auto* block = static_cast<FreeBlock*>(data);
  block->next = nullptr;
  shared.give_small(index, block, 1);
}

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

// The low six bits of the context are the class of the block.
void delete_small(void* context) {
  const auto bits = reinterpret_cast<uintptr_t>(context);
  void* const data = reinterpret_cast<void*>(bits & ~uintptr_t{63});
  const auto index = static_cast<int>(bits & 63);
  if (index >= kLeastWatchedClass) contents_freed(data);
  free_small(data, index);
}

void delete_large(void* context) {
  auto* const block = static_cast<LargeBlock*>(context);
  contents_freed(block->data);
  SharedCache::get().give_large(block);
}

DataPtr allocate_large(size_t bytes) {
  SharedCache& shared = SharedCache::get();
  TORCH_CHECK_WITH(OutOfMemoryError, bytes <= (size_t{1} << 48),
                   "CPU out of memory: cannot allocate ", bytes, " bytes");

  const size_t rounded = round_large(bytes);
  LargeBlock* block = shared.take_large(rounded);
  if (!block) block = shared.make_large(rounded);

  return DataPtr(block->data, block, &delete_large, kCPU);
}

void delete_exact(void* context) {
  auto* const block = static_cast<LargeBlock*>(context);
  contents_freed(block->data);
  SharedCache& shared = SharedCache::get();
  shared.count_outside(-static_cast<int64_t>(block->bytes), false);
  shared.system_free(block->data, block->bytes);
  delete block;
}

DataPtr allocate_exact(size_t bytes) {
  TORCH_CHECK_WITH(OutOfMemoryError, bytes <= (size_t{1} << 48),
                   "CPU out of memory: cannot allocate ", bytes, " bytes");

  SharedCache& shared = SharedCache::get();
  shared.count_outside(static_cast<int64_t>(bytes), true);
  LargeBlock* const block = shared.make_large(bytes);
  return DataPtr(block->data, block, &delete_exact, kCPU);
}

class CachingCPUAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes, DeviceIndex = -1) override {
    if constexpr (kExactBlocks) return bytes == 0 ? DataPtr() : allocate_exact(bytes);
    if (C10_UNLIKELY(bytes - 1 >= kLargestSmall))
      return bytes == 0 ? DataPtr() : allocate_large(bytes);

    const int index = class_of(bytes);
    void* const data = allocate_small(index);
    return DataPtr(
        data,
        reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) | static_cast<uintptr_t>(index)),
        &delete_small, kCPU);
  }
};

}  // namespace

Allocator& cpu_allocator() {
  static CachingCPUAllocator* const allocator = [] {
    if (!SharedCache::get().enabled()) thread_cache_bytes = 0;
    return new CachingCPUAllocator;
  }();
  return *allocator;
}

bool is_cpu_block(const DataPtr& data) {
  const DeleterFn deleter = data.deleter();
  return deleter == &delete_small || deleter == &delete_large || deleter == &delete_exact;
}

CPUAllocatorStatistics cpu_allocator_statistics() { return SharedCache::get().statistics(); }

void cpu_empty_cache() {
  if (ThreadCache* cache = thread_cache) {
    for (int index = 0; index < kClasses; ++index) flush(*cache, index, 0);
  }
  SharedCache::get().empty();
}

void cpu_set_cache_limit(size_t bytes) {
  thread_cache_bytes = std::min(bytes, kThreadCacheBytes);
  SharedCache::get().set_limit(bytes);
  if (bytes == 0) cpu_empty_cache();
}

}  // namespace c10
