#include "c10/cpu/CPUAllocator.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "c10/util/Exception.h"

// Note [CPU memory cache]
// Fresh memory is expensive twice: the system call, and a page fault for every 4 KiB written the first time. Freed blocks are
// therefore kept.
//  * Small blocks (up to 1 MiB) belong to one of 52 size classes, four per power of two. Each thread keeps a list per class, used
//    without locks; lists that grow too long give half to the shared lists, empty ones are refilled from there.
//  * Large blocks are rounded to eight sizes per power of two and wait, shared, in order of size. A request takes the smallest
//    block that fits unless it would waste more than a quarter. Above the limit the longest unused go back to the system.
// The class of a small block is stored in the low bits of DataPtr's context (blocks are 64-byte aligned), a large one has a
// descriptor there: freeing needs neither a header in front of the block nor a look-up.
// Tested in tests/c10/test_allocator.py.

namespace c10 {

namespace {

constexpr int kClasses = 52;
constexpr size_t kLargestSmall = size_t{1} << 20;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kThreadCacheBytes = size_t{32} << 20;  // per thread, over all classes
constexpr size_t kThreadListBytes = size_t{2} << 20;    // per thread and class
constexpr uint32_t kThreadListBlocks = 512;

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
static_assert(class_of(kLargestSmall) == kClasses - 1 && class_bytes(kClasses - 1) == kLargestSmall);
static_assert(class_of(257) == 4 && class_bytes(4) == 320 && class_of(320) == 4 && class_of(321) == 5);

constexpr size_t round_large(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

struct FreeBlock {
  FreeBlock* next;
};

struct LargeBlock {
  void* data;
  size_t bytes;
  uint64_t freed_at;  // tick of the shared clock
};

/// A counter with one writer and many readers: no locked instruction.
class OwnedCounter {
 public:
  void add(int64_t amount) { value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed); }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct ThreadCache {
  FreeBlock* lists[kClasses] = {};
  uint32_t counts[kClasses] = {};
  size_t cached_bytes = 0;
  OwnedCounter allocated_bytes;  // may be negative: blocks are freed by other threads
  OwnedCounter allocations;
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;
};

size_t parse_bytes(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const char suffix = *end;
  const int shift = suffix == 'K' || suffix == 'k' ? 10 : suffix == 'M' || suffix == 'm' ? 20 : suffix == 'G' || suffix == 'g' ? 30 : 0;
  TORCH_CHECK_VALUE(end != text && number >= 0, "TORCH_PY_CPU_CACHE_LIMIT: expected bytes such as 512M, got '", text, "'");
  return static_cast<size_t>(number * static_cast<double>(size_t{1} << shift));
}

size_t memory_of_process() {
  size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (std::FILE* file = std::fopen("/sys/fs/cgroup/memory.max", "r")) {
    unsigned long long limit = 0;
    if (std::fscanf(file, "%llu", &limit) == 1 && limit > 0) bytes = std::min<size_t>(bytes, limit);
    std::fclose(file);
  }
  return bytes;
}

size_t initial_limit() {
  const char* text = std::getenv("TORCH_PY_CPU_CACHE_LIMIT");
  return text && *text ? parse_bytes(text) : memory_of_process() / 4;
}

/// What all threads share, behind one mutex. Never destroyed: blocks are freed after static destructors too.
class SharedCache {
 public:
  static SharedCache& get();

  FreeBlock* take_small(int index, uint32_t wanted, uint32_t& taken);
  void give_small(int index, FreeBlock* first, uint32_t count);
  LargeBlock* take_large(size_t bytes);
  void give_large(LargeBlock* block);
  void* system_allocate(size_t bytes);
  void system_free(void* data, size_t bytes);
  void empty();
  void set_limit(size_t bytes);
  bool enabled() const { return limit_.load(std::memory_order_relaxed) != 0; }

  void enter(ThreadCache* cache);
  void leave(ThreadCache* cache);
  CPUAllocatorStatistics statistics();
  void count_outside(int64_t bytes, bool allocation);  // for threads without a cache

  std::mutex mutex;

 private:
  SharedCache() : limit_(initial_limit()) {}
  void trim(size_t limit);  // mutex held
  void free_oldest_large();

  FreeBlock* lists_[kClasses] = {};
  uint32_t counts_[kClasses] = {};
  std::multimap<size_t, LargeBlock*> large_;
  size_t cached_bytes_ = 0;
  std::atomic<size_t> limit_;
  uint64_t clock_ = 0;
  ThreadCache* threads_ = nullptr;
  int64_t allocated_bytes_ = 0;  // of large blocks, and of threads that have left
  int64_t allocations_ = 0;
  std::atomic<int64_t> reserved_bytes_{0}, peak_reserved_bytes_{0}, system_allocations_{0};
};

SharedCache& SharedCache::get() {
  static SharedCache* const cache = [] {
    auto* fresh = new SharedCache;
    // The child owns a consistent copy. Lists of threads that do not exist there stay unused.
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().mutex.unlock(); });
    return fresh;
  }();
  return *cache;
}

void* SharedCache::system_allocate(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kCPUAlignment;
  void* data = nullptr;
  if (posix_memalign(&data, alignment, bytes) != 0) {
    empty();
    TORCH_CHECK_WITH(OutOfMemoryError, posix_memalign(&data, alignment, bytes) == 0, "CPU out of memory: cannot allocate ", bytes,
                     " bytes beside the ", reserved_bytes_.load(), " bytes that are reserved");
  }
#ifdef MADV_HUGEPAGE
  if (alignment == kHugePage) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  const int64_t reserved = reserved_bytes_.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
  int64_t peak = peak_reserved_bytes_.load();
  while (peak < reserved && !peak_reserved_bytes_.compare_exchange_weak(peak, reserved)) {
  }
  system_allocations_.fetch_add(1);
  return data;
}

void SharedCache::system_free(void* data, size_t bytes) {
  reserved_bytes_.fetch_sub(static_cast<int64_t>(bytes));
  std::free(data);
}

FreeBlock* SharedCache::take_small(int index, uint32_t wanted, uint32_t& taken) {
  const std::lock_guard lock(mutex);
  FreeBlock* first = lists_[index];
  FreeBlock** last = &lists_[index];
  for (taken = 0; taken < wanted && *last; ++taken) last = &(*last)->next;
  if (taken == 0) return nullptr;
  FreeBlock* const rest = *last;
  *last = nullptr;
  lists_[index] = rest;
  counts_[index] -= taken;
  cached_bytes_ -= taken * class_bytes(index);
  return first;
}

void SharedCache::give_small(int index, FreeBlock* first, uint32_t count) {
  const std::lock_guard lock(mutex);
  for (; first && count > 0; --count) {
    FreeBlock* const block = first;
    first = first->next;
    block->next = lists_[index];
    lists_[index] = block;
    ++counts_[index];
    cached_bytes_ += class_bytes(index);
  }
  trim(limit_.load(std::memory_order_relaxed));
}

LargeBlock* SharedCache::take_large(size_t bytes) {
  const std::lock_guard lock(mutex);
  ++allocations_;
  const auto found = large_.lower_bound(bytes);
  if (found == large_.end() || found->first > bytes + bytes / 4) {
    allocated_bytes_ += static_cast<int64_t>(bytes);  // the caller gets it from the system
    return nullptr;
  }
  LargeBlock* const block = found->second;
  large_.erase(found);
  cached_bytes_ -= block->bytes;
  allocated_bytes_ += static_cast<int64_t>(block->bytes);
  return block;
}

void SharedCache::give_large(LargeBlock* block) {
  const std::lock_guard lock(mutex);
  allocated_bytes_ -= static_cast<int64_t>(block->bytes);
  block->freed_at = ++clock_;
  large_.emplace(block->bytes, block);
  cached_bytes_ += block->bytes;
  trim(limit_.load(std::memory_order_relaxed));
}

void SharedCache::free_oldest_large() {
  const auto oldest =
      std::min_element(large_.begin(), large_.end(), [](const auto& a, const auto& b) { return a.second->freed_at < b.second->freed_at; });
  LargeBlock* const block = oldest->second;
  large_.erase(oldest);
  cached_bytes_ -= block->bytes;
  system_free(block->data, block->bytes);
  delete block;
}

void SharedCache::trim(size_t limit) {
  while (cached_bytes_ > limit && !large_.empty()) free_oldest_large();
  for (int index = kClasses - 1; index >= 0 && cached_bytes_ > limit; --index) {
    while (lists_[index] && cached_bytes_ > limit) {
      FreeBlock* const block = lists_[index];
      lists_[index] = block->next;
      --counts_[index];
      cached_bytes_ -= class_bytes(index);
      system_free(block, class_bytes(index));
    }
  }
}

void SharedCache::empty() {
  const std::lock_guard lock(mutex);
  trim(0);
}

void SharedCache::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex);
  limit_.store(bytes);
  trim(bytes);
}

void SharedCache::enter(ThreadCache* cache) {
  const std::lock_guard lock(mutex);
  cache->next = threads_;
  if (threads_) threads_->previous = cache;
  threads_ = cache;
}

void SharedCache::leave(ThreadCache* cache) {
  for (int index = 0; index < kClasses; ++index) {
    if (cache->lists[index]) give_small(index, cache->lists[index], cache->counts[index]);
  }
  const std::lock_guard lock(mutex);
  (cache->previous ? cache->previous->next : threads_) = cache->next;
  if (cache->next) cache->next->previous = cache->previous;
  allocated_bytes_ += cache->allocated_bytes.get();
  allocations_ += cache->allocations.get();
}

void SharedCache::count_outside(int64_t bytes, bool allocation) {
  const std::lock_guard lock(mutex);
  allocated_bytes_ += bytes;
  allocations_ += allocation;
}

CPUAllocatorStatistics SharedCache::statistics() {
  const std::lock_guard lock(mutex);
  CPUAllocatorStatistics result;
  result.allocated_bytes = allocated_bytes_;
  result.allocations = allocations_;
  for (const ThreadCache* cache = threads_; cache; cache = cache->next) {
    result.allocated_bytes += cache->allocated_bytes.get();
    result.allocations += cache->allocations.get();
  }
  result.reserved_bytes = reserved_bytes_.load();
  result.cached_bytes = result.reserved_bytes - result.allocated_bytes;
  result.peak_reserved_bytes = peak_reserved_bytes_.load();
  result.system_allocations = system_allocations_.load();
  return result;
}

// One pointer of thread-local storage, of the cheap kind (a fixed offset). Null before first use and after thread exit.
thread_local constinit __attribute__((tls_model("initial-exec"))) ThreadCache* thread_cache = nullptr;
thread_local constinit bool thread_exiting = false;

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
  return static_cast<uint32_t>(std::clamp<size_t>(kThreadListBytes / class_bytes(index), 2, kThreadListBlocks));
}
constexpr auto kListCapacity = [] {
  std::array<uint32_t, kClasses> capacity{};
  for (int index = 0; index < kClasses; ++index) capacity[index] = list_capacity(index);
  return capacity;
}();

C10_NOINLINE void* allocate_small_slowly(int index) {
  SharedCache& shared = SharedCache::get();
  ThreadCache* cache = thread_cache ? thread_cache : make_thread_cache();
  uint32_t taken = 0;
  FreeBlock* block = shared.take_small(index, cache ? std::max(1u, kListCapacity[index] / 4) : 1, taken);
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
  if (C10_UNLIKELY(cache == nullptr || cache->lists[index] == nullptr)) return allocate_small_slowly(index);
  FreeBlock* const block = cache->lists[index];
  cache->lists[index] = block->next;
  --cache->counts[index];
  cache->cached_bytes -= class_bytes(index);
  cache->allocated_bytes.add(static_cast<int64_t>(class_bytes(index)));
  cache->allocations.add(1);
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

void delete_small(void* context) {
  const auto bits = reinterpret_cast<uintptr_t>(context);
  free_small(reinterpret_cast<void*>(bits & ~uintptr_t{63}), static_cast<int>(bits & 63));
}

void delete_large(void* context) { SharedCache::get().give_large(static_cast<LargeBlock*>(context)); }

DataPtr allocate_large(size_t bytes) {
  SharedCache& shared = SharedCache::get();
  TORCH_CHECK_WITH(OutOfMemoryError, bytes <= (size_t{1} << 48), "CPU out of memory: cannot allocate ", bytes, " bytes");
  const size_t rounded = round_large(bytes);
  LargeBlock* block = shared.take_large(rounded);
  if (!block) {
    try {
      block = new LargeBlock{shared.system_allocate(rounded), rounded, 0};
    } catch (...) {
      shared.count_outside(-static_cast<int64_t>(rounded), false);
      throw;
    }
  }
  return DataPtr(block->data, block, &delete_large, kCPU);
}

class CachingCPUAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    if (C10_UNLIKELY(bytes - 1 >= kLargestSmall)) return bytes == 0 ? DataPtr() : allocate_large(bytes);
    const int index = class_of(bytes);
    void* const data = allocate_small(index);
    return DataPtr(data, reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) | static_cast<uintptr_t>(index)), &delete_small, kCPU);
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
