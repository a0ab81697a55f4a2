// The cache of Note [Packed weights].
#include "aten/native/shared/PackedWeights.h"

#include <pthread.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c10/cpu/WatchedBlocks.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;

/// Smaller packed forms are made faster than found.
constexpr int64_t kLeastBytes = 8192;

struct Entry {
  uint64_t stamp;            // of the contents
  std::vector<int64_t> key;  // of the weight in them, and of the form
  Tensor packed;
};

std::vector<int64_t> key_of(const Tensor& weight, const PackedForm& form) {
  std::vector<int64_t> key{weight.dim(), static_cast<int64_t>(weight.scalar_type()),
                           weight.storage_offset(), static_cast<int64_t>(form.packer)};
  key.insert(key.end(), weight.sizes().begin(), weight.sizes().end());
  key.insert(key.end(), weight.strides().begin(), weight.strides().end());
  key.insert(key.end(), form.parameters.begin(), form.parameters.end());
  return key;
}

class Cache {
 public:
  /// Never destroyed: blocks are freed until the process ends.
  static Cache& get() {
    static Cache* const cache = [] {
      auto* fresh = new Cache;
      c10::set_watch_listener([](uint64_t stamp) { get().drop(stamp); });
      pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                     [] { get().mutex_.unlock(); });
      return fresh;
    }();
    return *cache;
  }

  Tensor find(uint64_t stamp, const std::vector<int64_t>& key) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = places_.equal_range(stamp);
    for (auto place = first; place != last; ++place) {
      if (place->second->key != key) continue;
      entries_.splice(entries_.begin(), entries_, place->second);
      ++hits_;
      return place->second->packed;
    }
    return {};
  }

  void insert(Entry entry) {
    const uint64_t stamp = entry.stamp;
    Entries leaving;  // freed without the mutex
    {
      const std::lock_guard lock(mutex_);
      // Another thread may have packed the same weight meanwhile.
      const auto [first, last] = places_.equal_range(stamp);
      const bool is_there = std::any_of(
          first, last, [&](const auto& place) { return place.second->key == entry.key; });
      if (is_there) return;

      bytes_ += entry.packed.numel();
      entries_.push_front(std::move(entry));
      places_.emplace(stamp, entries_.begin());
      while (bytes_ > kMostBytes) remove(std::prev(entries_.end()), leaving);
    }

    // The contents may have changed before the entry was there to be dropped.
    if (!c10::is_watched(stamp)) drop(stamp);
  }

  void drop(uint64_t stamp) {
    Entries leaving;
    const std::lock_guard lock(mutex_);
    for (auto place = places_.find(stamp); place != places_.end(); place = places_.find(stamp))
      remove(place->second, leaving);
  }

  void clear() {
    Entries leaving;
    const std::lock_guard lock(mutex_);
    while (!entries_.empty()) remove(entries_.begin(), leaving);
  }

  PackedWeightsStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return {static_cast<int64_t>(entries_.size()), bytes_, hits_};
  }

 private:
  using Entries = std::list<Entry>;

  void remove(Entries::iterator entry, Entries& leaving) {
    bytes_ -= entry->packed.numel();
    const auto [first, last] = places_.equal_range(entry->stamp);
    for (auto place = first; place != last; ++place) {
      if (place->second != entry) continue;
      places_.erase(place);
      break;
    }
    leaving.splice(leaving.end(), entries_, entry);
  }

  std::mutex mutex_;
  Entries entries_;  // the most recently used first
  std::unordered_multimap<uint64_t, Entries::iterator> places_;
  int64_t bytes_ = 0;
  int64_t hits_ = 0;
};

bool is_followed(const Tensor& weight) {
  return weight.requires_grad() && c10::GradMode::is_enabled();
}

}  // namespace

Tensor packed_weight(const Tensor& weight, const PackedForm& form, int64_t bytes,
                     const void* context, PackFunction pack) {
  if (bytes < kLeastBytes || bytes > kMostBytes || is_followed(weight)) return {};

  const c10::BlockContents contents = c10::watch_contents(*weight.storage());
  if (contents.stamp == 0 || contents.reads < 2) return {};

  Cache& cache = Cache::get();
  std::vector<int64_t> key = key_of(weight, form);
  Tensor packed = cache.find(contents.stamp, key);
  if (packed.defined()) return packed;

  packed = empty_tensor({bytes}, kByte, kCPU);
  pack(context, packed.data());
  cache.insert({contents.stamp, std::move(key), packed});
  return packed;
}

PackedWeightsStatistics packed_weights_statistics() { return Cache::get().statistics(); }
void clear_packed_weights() { Cache::get().clear(); }

}  // namespace at::native
