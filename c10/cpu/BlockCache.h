// Size classes, blocks and the cache that threads share: internal to the CPU allocator.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "c10/cpu/CPUAllocator.h"
#include "c10/cpu/RecentPeak.h"

namespace c10::block_cache {

/// Builds with sanitizers give every request a block of its size from malloc, used once: accesses
/// beyond a block and after its end are then seen.
#ifdef TORCH_PY_EXACT_BLOCKS
constexpr bool kExactBlocks = true;
#else
constexpr bool kExactBlocks = false;
#endif

// Small blocks belong to one of 52 size classes: four multiples of 64 bytes, then four per power of
// two.
constexpr int kClasses = 52;
constexpr size_t kLargestSmall = size_t{1} << 20;

/// The smallest class whose blocks hold `bytes` bytes.
constexpr int class_of(size_t bytes) {
  if (bytes <= 256) return static_cast<int>((bytes + 63) / 64) - 1;
  const size_t last = bytes - 1;
  const int octave = 63 - __builtin_clzll(last);

  return 4 + (octave - 8) * 4 + static_cast<int>((last >> (octave - 2)) & 3);
}

constexpr size_t class_bytes(int index) {
  if (index < 4) return static_cast<size_t>(index + 1) * 64;

  const size_t base = size_t{256} << ((index - 4) / 4);
  return base + base / 4 * static_cast<size_t>((index - 4) % 4 + 1);
}
static_assert(class_of(kLargestSmall) == kClasses - 1 &&
              class_bytes(kClasses - 1) == kLargestSmall);
static_assert(class_of(257) == 4 && class_bytes(4) == 320 && class_of(320) == 4 &&
              class_of(321) == 5);

/// A free small block; the link is in its own first bytes.
struct FreeBlock {
  FreeBlock* next;
};

/// The descriptor of a large block, in use or free.
struct LargeBlock {
  void* data;
  size_t bytes;
  int forks;                    // of this process and its ancestors when the block was made
  int64_t freed_at = 0;         // active time in milliseconds
  LargeBlock* older = nullptr;  // the free blocks in the order in which they were freed
  LargeBlock* newer = nullptr;
};

/// Blocks on their way to the system, which takes them when this object ends: after the mutex has
/// been released, as unmapping takes long.
struct Surplus {
  LargeBlock* large = nullptr;  // linked by `older`
  FreeBlock* small = nullptr;

  Surplus() = default;
  Surplus(const Surplus&) = delete;
  Surplus& operator=(const Surplus&) = delete;
  ~Surplus();
};

/// Milliseconds that pass at a steady rate. Tests exchange it.
extern int64_t (*clock_milliseconds)();

/// A counter with one writer and many readers, without locked instructions.
class OwnedCounter {
 public:
  void add(int64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// One thread's free small blocks; only that thread touches the lists.
struct ThreadCache {
  FreeBlock* lists[kClasses] = {};
  uint32_t counts[kClasses] = {};  // lengths of the lists
  size_t cached_bytes = 0;         // in all lists
  OwnedCounter allocated_bytes;    // negative if this thread frees blocks of others
  OwnedCounter allocations;
  ThreadCache* previous = nullptr;  // the list of all threads, under the shared mutex
  ThreadCache* next = nullptr;
};

/// The free blocks that all threads share, behind one mutex. Never destroyed: blocks are also freed
/// after static destructors have run.
class SharedCache {
 public:
  static SharedCache& get();

  /// Takes up to `wanted` blocks as a list; `taken` receives their number.
  FreeBlock* take_small(int index, uint32_t wanted, uint32_t& taken);
  void give_small(int index, FreeBlock* first, uint32_t count);
  /// A block that fits, or null: then the caller must make one.
  LargeBlock* take_large(size_t bytes);
  LargeBlock* make_large(size_t bytes);
  void give_large(LargeBlock* block);

  /// Aligned memory from the system; throws OutOfMemoryError.
  void* system_allocate(size_t bytes);
  void system_free(void* data, size_t bytes);

  /// Gives back what the recent use does not justify; see Note [CPU memory cache].
  void sweep();
  void empty();
  void set_limit(size_t bytes);
  bool enabled() const { return limit_.load(std::memory_order_relaxed) != 0; }

  /// A thread's cache joins and leaves the list of those that statistics count.
  void enter(ThreadCache* cache);
  void leave(ThreadCache* cache);
  CPUAllocatorStatistics statistics();
  /// Counts an allocation (or a free, with negative bytes) of a thread without a cache.
  void count_outside(int64_t bytes, bool allocation);

  std::mutex mutex;

 private:
  SharedCache();
  void prepare_fork();   // locks the mutex
  void forget_parent();  // this and the rest: with the mutex held
  int64_t active_time();
  int64_t live_bytes() const;
  bool above_bounds(int64_t incoming) const;
  void collect(Surplus& surplus, int64_t incoming = 0);
  void collect_large(Surplus& surplus, LargeBlock* block);
  void collect_small(Surplus& surplus, int index);
  void remove_large(std::multimap<size_t, LargeBlock*>::iterator position);
  void link_newest(LargeBlock* block);

  FreeBlock* lists_[kClasses] = {};
  uint32_t counts_[kClasses] = {};
  std::multimap<size_t, LargeBlock*> large_;  // free large blocks by size
  LargeBlock* oldest_ = nullptr;              // the same blocks by age
  LargeBlock* newest_ = nullptr;
  size_t cached_bytes_ = 0;    // in lists_ and large_
  std::atomic<size_t> limit_;  // for cached_bytes_; 0 turns caching off
  RecentPeak recent_live_;     // of live_bytes()
  int64_t latest_use_ = 0;     // by clock_milliseconds
  int64_t active_time_ = 0;
  int forks_ = 0;
  int64_t inherited_bytes_ = 0;  // still reserved of what the parent had at the last fork
  ThreadCache* threads_ = nullptr;
  int64_t allocated_bytes_ = 0;  // of large blocks, and of threads that have left
  int64_t allocations_ = 0;
  std::atomic<int64_t> reserved_bytes_{0};
  std::atomic<int64_t> peak_reserved_bytes_{0};
  std::atomic<int64_t> system_allocations_{0};
};

}  // namespace c10::block_cache
