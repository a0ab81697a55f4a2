// The shared part of the cache of host memory: see Note [CPU memory cache].
#include "c10/cpu/BlockCache.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "c10/util/Exception.h"

namespace c10::block_cache {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

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

}  // namespace

SharedCache::SharedCache() : limit_(initial_limit()) {}

SharedCache& SharedCache::get() {
  static SharedCache* const cache = [] {
    auto* fresh = new SharedCache;
    // The child owns a consistent copy. Lists of threads that do not exist in it stay unused.
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                   [] { get().mutex.unlock(); });
    return fresh;
  }();
  return *cache;
}

void* SharedCache::system_allocate(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kCPUAlignment;
  void* data = nullptr;
  if (posix_memalign(&data, alignment, bytes) != 0) {
    // Retry without the cache.
    empty();
    TORCH_CHECK_WITH(OutOfMemoryError, posix_memalign(&data, alignment, bytes) == 0,
                     "CPU out of memory: cannot allocate ", bytes, " bytes in addition to the ",
                     reserved_bytes_.load(), " bytes that are reserved");
  }

#ifdef MADV_HUGEPAGE
  if (alignment == kHugePage) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif

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

  // The smallest block that fits, unless it would waste more than a quarter.
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
      std::min_element(large_.begin(), large_.end(), [](const auto& a, const auto& b) {
        return a.second->freed_at < b.second->freed_at;
      });

  LargeBlock* const block = oldest->second;
  large_.erase(oldest);
  cached_bytes_ -= block->bytes;
  system_free(block->data, block->bytes);
  delete block;
}

/// Frees large blocks, the longest unused first, then small ones, the largest first.
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

}  // namespace c10::block_cache
