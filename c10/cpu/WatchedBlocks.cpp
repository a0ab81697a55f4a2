// The table of Note [Watched contents].
#include "c10/cpu/WatchedBlocks.h"

#include <pthread.h>

#include <mutex>
#include <unordered_map>

#include "c10/cpu/CPUAllocator.h"

namespace c10 {

namespace watched_blocks {

constinit std::array<std::atomic<uint32_t>, kSlots> known{};

}  // namespace watched_blocks

namespace {

struct Block {
  uint64_t stamp = 0;  // 0: not watched
  uint32_t reads = 0;
  bool exposed = false;
};

/// The table; memory is neither allocated by nor given back to the CPU allocator under its mutex.
class Table {
 public:
  /// Never destroyed: blocks are freed until the process ends.
  static Table& get() {
    static Table* const table = [] {
      auto* fresh = new Table;
      // A child has the same memory, so it goes on with the same table.
      pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                     [] { get().mutex_.unlock(); });
      return fresh;
    }();
    return *table;
  }

  BlockContents watch(const void* address) {
    const std::lock_guard lock(mutex_);
    Block& block = known(address);
    if (block.exposed) return {};

    if (block.stamp == 0) {
      block.stamp = ++last_stamp_;
      stamps_.emplace(block.stamp, address);
    }
    return {block.stamp, ++block.reads};
  }

  bool is_watched(uint64_t stamp) {
    const std::lock_guard lock(mutex_);
    return stamps_.contains(stamp);
  }

  void expose(const void* address) {
    uint64_t ended = 0;
    {
      const std::lock_guard lock(mutex_);
      Block& block = known(address);
      block.exposed = true;
      ended = end(block);
    }
    tell(ended);
  }

  /// Forgets the block; one that was exposed remains so until it is freed.
  void end_watch(const void* address, bool freed) {
    uint64_t ended = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = blocks_.find(address);
      if (found == blocks_.end()) return;

      ended = end(found->second);
      if (freed || !found->second.exposed) {
        watched_blocks::known[watched_blocks::slot_of(address)].fetch_sub(1);
        blocks_.erase(found);
      }
    }
    tell(ended);
  }

  std::atomic<void (*)(uint64_t)> listener{nullptr};

 private:
  Block& known(const void* address) {
    const auto [found, is_new] = blocks_.try_emplace(address);
    if (is_new) watched_blocks::known[watched_blocks::slot_of(address)].fetch_add(1);
    return found->second;
  }

  uint64_t end(Block& block) {
    const uint64_t stamp = block.stamp;
    stamps_.erase(stamp);
    block.stamp = 0;
    block.reads = 0;
    return stamp;
  }

  /// Without the mutex, because the listener frees memory.
  void tell(uint64_t stamp) {
    const auto function = listener.load();
    if (stamp != 0 && function != nullptr) function(stamp);
  }

  std::mutex mutex_;
  std::unordered_map<const void*, Block> blocks_;
  std::unordered_map<uint64_t, const void*> stamps_;
  uint64_t last_stamp_ = 0;
};

bool may_be_watched(const StorageImpl& storage) {
  return storage.capacity >= kLeastWatchedBytes && is_cpu_block(storage.data);
}

}  // namespace

BlockContents watch_contents(const StorageImpl& storage) {
  // Storages whose memory NumPy or others look at have no allocator.
  const bool is_shared = storage.allocator != &cpu_allocator();
  if (is_shared || !may_be_watched(storage)) return {};
  return Table::get().watch(storage.data.get());
}

bool is_watched(uint64_t stamp) { return Table::get().is_watched(stamp); }

void set_watch_listener(void (*listener)(uint64_t)) { Table::get().listener = listener; }

void expose_contents(const StorageImpl& storage) {
  if (may_be_watched(storage)) Table::get().expose(storage.data.get());
}

void watched_blocks::end_watch(const void* block) { Table::get().end_watch(block, false); }
void watched_blocks::forget(const void* block) { Table::get().end_watch(block, true); }

}  // namespace c10
