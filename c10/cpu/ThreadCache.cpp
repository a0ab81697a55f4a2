// The free small blocks of each thread, where they come from and where they go: see Note [CPU
// memory cache].
#include "c10/cpu/ThreadCache.h"

namespace c10::block_cache {

thread_local constinit __attribute__((tls_model("initial-exec"))) ThreadCache* thread_cache =
    nullptr;
std::atomic<size_t> thread_cache_bytes{kThreadCacheBytes};

namespace {

thread_local constinit bool thread_exiting = false;

/// Creates the cache on first use and gives it up when the thread exits.
struct ThreadCacheOwner {
  ThreadCache cache;

  ThreadCacheOwner() {
    SharedCache& shared = SharedCache::get();
    if (!shared.enabled()) thread_cache_bytes = 0;
    shared.enter(&cache);
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

}  // namespace

void* allocate_small_slowly(int index) {
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

void free_small_slowly(void* data, int index) {
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

void empty_thread_cache() {
  ThreadCache* const cache = thread_cache;
  for (int index = 0; cache && index < kClasses; ++index) flush(*cache, index, 0);
}

}  // namespace c10::block_cache
