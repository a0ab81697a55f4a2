// The caching allocator of host memory.
#include "c10/cpu/CPUAllocator.h"

#include <algorithm>
#include <bit>

#include "c10/cpu/ThreadCache.h"
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

constexpr int kLeastWatchedClass = class_of(kLeastWatchedBytes);

/// Eight sizes per power of two.
constexpr size_t round_large(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
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
  static auto* const allocator = new CachingCPUAllocator;
  return *allocator;
}

bool is_cpu_block(const DataPtr& data) {
  const DeleterFn deleter = data.deleter();
  return deleter == &delete_small || deleter == &delete_large || deleter == &delete_exact;
}

CPUAllocatorStatistics cpu_allocator_statistics() { return SharedCache::get().statistics(); }

void cpu_empty_cache() {
  empty_thread_cache();
  SharedCache::get().empty();
}

void cpu_set_cache_limit(size_t bytes) {
  thread_cache_bytes = std::min(bytes, kThreadCacheBytes);
  SharedCache::get().set_limit(bytes);
  if (bytes == 0) cpu_empty_cache();
}

}  // namespace c10
