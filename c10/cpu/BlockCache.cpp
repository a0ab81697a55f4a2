// The shared part of the cache of host memory: see Note [CPU memory cache].
#include "c10/cpu/BlockCache.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "c10/util/Exception.h"

namespace c10::block_cache {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr int64_t kFloorBytes = int64_t{32} << 20;
constexpr int64_t kMaximumAge = 1000;  // milliseconds
constexpr int64_t kLongestPause = 250;

/// Reads "512M" and the like.
size_t parse_bytes(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const char suffix = *end;
  const int shift = suffix == 'K' || suffix == 'k'   ? 10
                    : suffix == 'M' || suffix == 'm' ? 20
                    : suffix == 'G' || suffix == 'g' ? 30
                                                     : 0;

  TORCH_CHECK_VALUE(end != text && number >= 0,
                    "TORCH_PY_CPU_CACHE_LIMIT: expected bytes such as 512M, got '", text, "'");
  return static_cast<size_t>(number * static_cast<double>(size_t{1} << shift));
}

/// The memory that this process may use: the machine's, or less in a container.
size_t memory_of_process() {
  size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
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

int64_t steady_milliseconds() {
#ifdef CLOCK_MONOTONIC_COARSE
  constexpr clockid_t kClock = CLOCK_MONOTONIC_COARSE;  // a few nanoseconds, precise enough
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec time{};
  clock_gettime(kClock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

constexpr bool has_own_pages(size_t bytes) { return bytes > kLargestSmall && !kExactBlocks; }

/// Pages of their own, so that giving the block back always gives them to the system: malloc may
/// keep them in its heap. Null when the system has no memory.
void* map_pages(size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const size_t padded = huge ? bytes + kHugePage : bytes;
  void* const mapped =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!huge) return mapped;

  // Cut off what precedes the first huge page, and what is left at the end.
  auto* const begin = static_cast<char*>(mapped);
  const size_t skipped = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (skipped > 0) munmap(begin, skipped);
  if (skipped < kHugePage) munmap(begin + skipped + bytes, kHugePage - skipped);

#ifdef MADV_HUGEPAGE
  madvise(begin + skipped, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return begin + skipped;
}

/// Null when the system has no memory.
void* acquire(size_t bytes) {
  if (has_own_pages(bytes)) return map_pages(bytes);
  void* data = nullptr;
  return posix_memalign(&data, kCPUAlignment, bytes) == 0 ? data : nullptr;
}

void release(void* data, size_t bytes) {
  if (has_own_pages(bytes)) {
    munmap(data, bytes);
  } else {
    std::free(data);
  }
}

}  // namespace

int64_t (*clock_milliseconds)() = &steady_milliseconds;

Surplus::~Surplus() {
  while (large) {
    LargeBlock* const block = large;
    large = block->older;
    release(block->data, block->bytes);
    delete block;
  }

  while (small) {
    FreeBlock* const block = small;
    small = block->next;
    std::free(block);
  }
}

SharedCache::SharedCache() : limit_(initial_limit()) {}

SharedCache& SharedCache::get() {
  static SharedCache* const cache = [] {
    auto* fresh = new SharedCache;
    pthread_atfork([] { get().prepare_fork(); }, [] { get().mutex.unlock(); },
                   [] {
                     get().forget_parent();
                     get().mutex.unlock();
                   });
    return fresh;
  }();
  return *cache;
}

/// Neither process keeps the cache: the child would hold pages that it does not need, and the
/// parent would copy each of them when it writes to it.
void SharedCache::prepare_fork() {
  cpu_empty_cache();
  mutex.lock();
}

/// The child's cache follows from its own use, not from what its parent used. Lists of threads that
/// do not exist in it stay unused.
void SharedCache::forget_parent() {
  ++forks_;
  inherited_bytes_ = reserved_bytes_.load();
  recent_live_ = {};
}

void* SharedCache::system_allocate(size_t bytes) {
  void* data = acquire(bytes);
  if (!data) {
    // Retry without the cache.
    empty();
    data = acquire(bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, data, "CPU out of memory: cannot allocate ", bytes,
                     " bytes in addition to the ", reserved_bytes_.load(),
                     " bytes that are reserved");
  }

  const int64_t reserved =
      reserved_bytes_.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
  int64_t peak = peak_reserved_bytes_.load();
  while (peak < reserved && !peak_reserved_bytes_.compare_exchange_weak(peak, reserved)) {
  }

  system_allocations_.fetch_add(1);
  return data;
}

void SharedCache::system_free(void* data, size_t bytes) {
  reserved_bytes_.fetch_sub(static_cast<int64_t>(bytes));
  release(data, bytes);
}

FreeBlock* SharedCache::take_small(int index, uint32_t wanted, uint32_t& taken) {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  FreeBlock* first = lists_[index];
  FreeBlock** last = &lists_[index];
  for (taken = 0; taken < wanted && *last; ++taken) last = &(*last)->next;

  if (taken > 0) {
    FreeBlock* const rest = *last;
    *last = nullptr;
    lists_[index] = rest;
    counts_[index] -= taken;
    cached_bytes_ -= taken * class_bytes(index);
  }

  collect(surplus, taken > 0 ? 0 : static_cast<int64_t>(class_bytes(index)));
  return first;
}

void SharedCache::give_small(int index, FreeBlock* first, uint32_t count) {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  for (; first && count > 0; --count) {
    FreeBlock* const block = first;
    first = first->next;
    block->next = lists_[index];
    lists_[index] = block;
    ++counts_[index];
    cached_bytes_ += class_bytes(index);
  }

  collect(surplus);
}

LargeBlock* SharedCache::take_large(size_t bytes) {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  ++allocations_;

  // The smallest block that fits, unless it would waste more than a quarter.
  auto found = large_.lower_bound(bytes);
  if (found == large_.end() || found->first > bytes + bytes / 4) {
    allocated_bytes_ += static_cast<int64_t>(bytes);  // the caller gets it from the system
    collect(surplus, static_cast<int64_t>(bytes));
    return nullptr;
  }

  // The newest of its size, so that blocks beyond the need grow old.
  found = std::prev(large_.upper_bound(found->first));
  LargeBlock* const block = found->second;
  remove_large(found);
  allocated_bytes_ += static_cast<int64_t>(block->bytes);
  collect(surplus);
  return block;
}

LargeBlock* SharedCache::make_large(size_t bytes) {
  try {
    return new LargeBlock{system_allocate(bytes), bytes, forks_};
  } catch (...) {
    count_outside(-static_cast<int64_t>(bytes), false);
    throw;
  }
}

void SharedCache::give_large(LargeBlock* block) {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  const auto bytes = static_cast<int64_t>(block->bytes);
  allocated_bytes_ -= bytes;

  block->freed_at = active_time();
  large_.emplace(block->bytes, block);
  link_newest(block);
  cached_bytes_ += block->bytes;

  // To write to pages of the parent is to copy them: new ones cost the same.
  if (block->forks != forks_) {
    inherited_bytes_ -= bytes;
    collect_large(surplus, block);
  }
  collect(surplus);
}

void SharedCache::link_newest(LargeBlock* block) {
  block->older = newest_;
  block->newer = nullptr;
  (newest_ ? newest_->newer : oldest_) = block;
  newest_ = block;
}

void SharedCache::remove_large(std::multimap<size_t, LargeBlock*>::iterator position) {
  LargeBlock* const block = position->second;
  large_.erase(position);
  (block->older ? block->older->newer : oldest_) = block->newer;
  (block->newer ? block->newer->older : newest_) = block->older;
  cached_bytes_ -= block->bytes;
}

/// The time in which the allocator was in use. Pauses count little: what a program needed before
/// one it probably needs after it.
int64_t SharedCache::active_time() {
  const int64_t now = clock_milliseconds();
  active_time_ += std::clamp<int64_t>(now - latest_use_, 0, kLongestPause);
  latest_use_ = now;
  return active_time_;
}

/// What is not in the shared cache: in use, or in the list of a thread.
int64_t SharedCache::live_bytes() const {
  return reserved_bytes_.load(std::memory_order_relaxed) - static_cast<int64_t>(cached_bytes_) -
         inherited_bytes_;
}

bool SharedCache::above_bounds(int64_t incoming) const {
  if (cached_bytes_ > limit_.load(std::memory_order_relaxed)) return true;

  const int64_t own_bytes =
      reserved_bytes_.load(std::memory_order_relaxed) - inherited_bytes_ + incoming;
  return own_bytes > std::max(kFloorBytes, 2 * recent_live_.get());
}

void SharedCache::collect_large(Surplus& surplus, LargeBlock* block) {
  auto position = large_.lower_bound(block->bytes);
  while (position->second != block) ++position;
  remove_large(position);

  reserved_bytes_.fetch_sub(static_cast<int64_t>(block->bytes));
  block->older = surplus.large;
  surplus.large = block;
}

void SharedCache::collect_small(Surplus& surplus, int index) {
  FreeBlock* const block = lists_[index];
  lists_[index] = block->next;
  --counts_[index];
  cached_bytes_ -= class_bytes(index);
  reserved_bytes_.fetch_sub(static_cast<int64_t>(class_bytes(index)));
  block->next = surplus.small;
  surplus.small = block;
}

/// Takes what goes back to the system: large blocks that are too old, then the oldest while a bound
/// is exceeded, then small blocks, the largest first. `incoming` bytes will be allocated next.
void SharedCache::collect(Surplus& surplus, int64_t incoming) {
  const int64_t now = active_time();
  recent_live_.record(now, live_bytes() + incoming);

  while (oldest_ && now - oldest_->freed_at > kMaximumAge) collect_large(surplus, oldest_);
  while (oldest_ && above_bounds(incoming)) collect_large(surplus, oldest_);

  for (int index = kClasses - 1; index >= 0 && above_bounds(incoming); --index) {
    while (lists_[index] && above_bounds(incoming)) collect_small(surplus, index);
  }
}

void SharedCache::sweep() {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  collect(surplus);
}

void SharedCache::empty() {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  while (oldest_) collect_large(surplus, oldest_);
  for (int index = 0; index < kClasses; ++index) {
    while (lists_[index]) collect_small(surplus, index);
  }
}

void SharedCache::set_limit(size_t bytes) {
  Surplus surplus;
  const std::lock_guard lock(mutex);
  limit_.store(bytes);
  collect(surplus);
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

}  // namespace c10::block_cache
