// Reuse of shared memory between a sending and a receiving process.
#include "c10/cpu/SegmentPool.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "c10/util/Exception.h"

// Note [Segments that come back]
// A new segment costs system calls in both processes and two page faults for every 4 KiB, more than
// the copy into it. A process that sends batch after batch therefore keeps its segments.
// `SegmentPool` hands out a storage; its segment travels by descriptor the first time and by number
// after that; when the last tensor on it is gone in the receiving process, the number comes back.
//
//  * A segment is free again when the receiver has returned it and no storage of the sender is on
//    it: a sender may keep what it sent.
//  * A fork on either side while a storage is alive gives the child a view of it, so such a segment
//    is never used again. The processes compare `fork_generation()` at both ends of a storage's
//    life. The child itself only unmaps: the other ends are not its own, and a mutex may have been
//    locked by a thread that it does not have. Any other use of an inherited pool or receiver is an
//    error.
//  * The memory that a receiver gets belongs to it alone. shared_segment() does not know these
//    storages there, so sharing one copies it.
//
// Tested in tests/torch_py/multiprocessing/test_segment_pool.py.

namespace c10 {

/// The segments of a pool. Storages refer to it weakly and outlive the pool.
struct SegmentPool::State {
  /// A segment and who uses it.
  struct Segment {
    std::shared_ptr<SharedSegment> memory;
    uint64_t last_use = 0;      // tick of the pool's clock
    uint64_t generation = 0;    // fork_generation() at the last allocation
    bool held_here = false;     // a storage of this process is on it
    bool held_there = false;    // it is part of a message, or the receiver holds it
    bool was_sent = false;      // with the storage that is on it now
    bool is_known = false;      // the receiver has it mapped
    bool is_condemned = false;  // it must not be used again, e.g. because a child may read it
    bool idle() const { return !held_here && !held_there; }
  };

  mutable std::mutex mutex;
  const pid_t process = getpid();
  std::map<int64_t, Segment> segments;
  int64_t next_id = 0;
  uint64_t clock = 0;
  std::vector<int64_t> forgotten;  // removed, and the receiver may have them mapped

  void check_process() const {
    TORCH_CHECK(process == getpid(), "shared memory: a pool of segments belongs to process ",
                process, ", and was used in its child ", getpid());
  }

  /// Removes a condemned segment that neither side holds. Call with the mutex held; the caller
  /// unmaps `garbage` after releasing it.
  void settle(int64_t id, Segment& segment, std::vector<std::shared_ptr<SharedSegment>>& garbage) {
    if (!segment.idle() || !segment.is_condemned) return;
    garbage.push_back(std::move(segment.memory));
    if (segment.is_known) forgotten.push_back(id);
    segments.erase(id);
  }

  /// The smallest idle segment that fits without much waste; of several, the one used last.
  Segment* find_idle(size_t capacity) {
    Segment* best = nullptr;
    for (auto& [id, segment] : segments) {
      const size_t bytes = segment.memory->bytes();
      if (!segment.idle() || bytes < capacity || bytes > capacity + capacity / 2) continue;
      if (best == nullptr || bytes < best->memory->bytes() ||
          (bytes == best->memory->bytes() && segment.last_use > best->last_use)) {
        best = &segment;
      }
    }
    return best;
  }
};

/// The segments that a receiver has mapped. Its storages keep it alive.
struct SegmentReceiver::State {
  std::mutex mutex;
  const pid_t process = getpid();

  void check_process() const {
    TORCH_CHECK(process == getpid(), "shared memory: a receiver of segments belongs to process ",
                process, ", and was used in its child ", getpid());
  }

  std::map<int64_t, std::shared_ptr<SharedSegment>> segments;  // mapped, by number
  Returned returned;                                           // since the last take_returned()
  bool is_open = true;
};

namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kLeastAge = 64;  // allocations for which a segment may wait for its next use

/// Eight sizes per power of two, in whole pages: batches of nearly equal size use the same
/// segments.
size_t capacity_for(size_t bytes) {
  const size_t step = std::max(kPage, std::bit_floor(std::max<size_t>(bytes, 1)) / 8);
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

using Segment = SegmentPool::State::Segment;

/// What a storage of the pool owns.
struct PoolContext {
  std::weak_ptr<SegmentPool::State> pool;
  std::shared_ptr<SharedSegment> memory;  // storages outlive the pool
  int64_t id;
};

void release_to_pool(void* pointer) {
  const std::unique_ptr<PoolContext> context(static_cast<PoolContext*>(pointer));
  const auto pool = context->pool.lock();
  if (!pool || pool->process != getpid()) return;

  std::vector<std::shared_ptr<SharedSegment>> garbage;  // unmapped after the lock is released
  const std::lock_guard lock(pool->mutex);
  const auto found = pool->segments.find(context->id);
  if (found == pool->segments.end()) return;

  Segment& segment = found->second;
  segment.held_here = false;
  segment.is_condemned |= segment.generation != fork_generation();
  pool->settle(context->id, segment, garbage);
}

/// What a storage of the receiver owns.
struct ReceiverContext {
  std::shared_ptr<SegmentReceiver::State> receiver;
  std::shared_ptr<SharedSegment> memory;
  int64_t id;
  uint64_t generation;
};

void return_to_sender(void* pointer) {
  const std::unique_ptr<ReceiverContext> context(static_cast<ReceiverContext*>(pointer));
  if (context->receiver->process != getpid()) return;

  std::shared_ptr<SharedSegment> garbage;  // unmapped after the lock is released
  const std::lock_guard lock(context->receiver->mutex);
  if (!context->receiver->is_open) return;

  if (context->generation == fork_generation()) {
    context->receiver->returned.reusable.push_back(context->id);
    return;
  }

  // A child of this process may read the segment: it must not be used again.
  context->receiver->returned.dropped.push_back(context->id);

  const auto found = context->receiver->segments.find(context->id);
  if (found == context->receiver->segments.end()) return;
  garbage = std::move(found->second);
  context->receiver->segments.erase(found);
}

}  // namespace

// --- The sender ---

SegmentPool::SegmentPool() : state_(std::make_shared<State>()) {}
SegmentPool::~SegmentPool() = default;

Storage SegmentPool::allocate(size_t bytes) {
  state_->check_process();

  const size_t capacity = capacity_for(bytes);
  std::unique_lock lock(state_->mutex);
  Segment* segment = state_->find_idle(capacity);
  int64_t id = 0;

  if (segment == nullptr) {
    // Create a segment, without the lock.
    lock.unlock();
    auto memory = SharedSegment::create(capacity, true);
    lock.lock();
    id = state_->next_id++;
    segment = &state_->segments[id];
    segment->memory = std::move(memory);
  } else {
    id = std::find_if(state_->segments.begin(), state_->segments.end(), [&](const auto& entry) {
           return &entry.second == segment;
         })->first;
  }

  segment->last_use = ++state_->clock;
  segment->generation = fork_generation();
  segment->held_here = true;
  segment->was_sent = false;

  auto* context = new PoolContext{state_, segment->memory, id};
  return make_intrusive<StorageImpl>(
      DataPtr(segment->memory->data(), context, &release_to_pool, kCPU), bytes, nullptr);
}

std::optional<SegmentPool::Exported> SegmentPool::export_storage(const StorageImpl& storage) {
  if (storage.data.deleter() != &release_to_pool) return std::nullopt;
  const auto* context = static_cast<PoolContext*>(storage.data.context());
  if (context->pool.lock() != state_) return std::nullopt;

  state_->check_process();
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->segments.find(context->id);
  if (found == state_->segments.end() || found->second.was_sent) return std::nullopt;

  Segment& segment = found->second;
  segment.was_sent = segment.held_there = true;
  return Exported{context->id, segment.memory->bytes(),
                  segment.is_known ? -1 : segment.memory->descriptor()};
}

void SegmentPool::delivered(const std::vector<int64_t>& ids) {
  state_->check_process();
  const std::lock_guard lock(state_->mutex);
  for (const int64_t id : ids) {
    const auto found = state_->segments.find(id);
    if (found == state_->segments.end()) continue;
    found->second.is_known = true;
    found->second.memory->close_descriptor();
  }
}

void SegmentPool::release(const std::vector<int64_t>& ids, bool reusable) {
  state_->check_process();
  std::vector<std::shared_ptr<SharedSegment>> garbage;
  const std::lock_guard lock(state_->mutex);
  for (const int64_t id : ids) {
    const auto found = state_->segments.find(id);
    if (found == state_->segments.end()) continue;
    found->second.held_there = false;
    if (!reusable) found->second.is_condemned = true;
    if (!reusable) found->second.is_known = false;  // the receiver has forgotten it already
    state_->settle(id, found->second, garbage);
  }
}

std::vector<int64_t> SegmentPool::trim() {
  state_->check_process();
  std::vector<std::shared_ptr<SharedSegment>> garbage;
  const std::lock_guard lock(state_->mutex);

  const auto busy = std::count_if(state_->segments.begin(), state_->segments.end(),
                                  [](const auto& entry) { return !entry.second.idle(); });
  const uint64_t age = std::max<uint64_t>(kLeastAge, 8 * static_cast<uint64_t>(busy));

  for (auto entry = state_->segments.begin(); entry != state_->segments.end();) {
    auto& [id, segment] = *entry++;
    if (!segment.idle() || state_->clock - segment.last_use <= age) continue;
    segment.is_condemned = true;
    state_->settle(id, segment, garbage);
  }

  return std::exchange(state_->forgotten, {});
}

std::pair<size_t, size_t> SegmentPool::count() const {
  state_->check_process();
  const std::lock_guard lock(state_->mutex);
  const auto idle = std::count_if(state_->segments.begin(), state_->segments.end(),
                                  [](const auto& entry) { return entry.second.idle(); });
  return {state_->segments.size(), static_cast<size_t>(idle)};
}

// --- The receiver ---

SegmentReceiver::SegmentReceiver() : state_(std::make_shared<State>()) {}
SegmentReceiver::~SegmentReceiver() { close(); }

Storage SegmentReceiver::receive(int64_t id, int descriptor, size_t capacity, size_t bytes) {
  std::shared_ptr<SharedSegment> memory;
  state_->check_process();

  if (descriptor >= 0) {
    memory = SharedSegment::open(descriptor, capacity, true);
    memory->close_descriptor();  // thousands of batches may be kept, but descriptors are few
  }

  const std::lock_guard lock(state_->mutex);
  if (memory) {
    state_->segments[id] = memory;
  } else {
    const auto found = state_->segments.find(id);
    TORCH_CHECK(found != state_->segments.end(), "shared memory: segment ", id,
                " was used before it was received");
    memory = found->second;
  }

  TORCH_CHECK(bytes <= memory->bytes(), "shared memory: segment ", id, " has ", memory->bytes(),
              " bytes, ", bytes, " were expected");

  void* const data = memory->data();
  auto* context = new ReceiverContext{state_, std::move(memory), id, fork_generation()};
  return make_intrusive<StorageImpl>(DataPtr(data, context, &return_to_sender, kCPU), bytes,
                                     nullptr);
}

SegmentReceiver::Returned SegmentReceiver::take_returned() {
  state_->check_process();
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->returned, {});
}

void SegmentReceiver::forget(const std::vector<int64_t>& ids) {
  state_->check_process();
  std::vector<std::shared_ptr<SharedSegment>> garbage;
  const std::lock_guard lock(state_->mutex);
  for (const int64_t id : ids) {
    const auto found = state_->segments.find(id);
    if (found == state_->segments.end()) continue;
    garbage.push_back(std::move(found->second));
    state_->segments.erase(found);
  }
}

void SegmentReceiver::close() {
  if (state_->process != getpid()) return;
  std::map<int64_t, std::shared_ptr<SharedSegment>> garbage;
  const std::lock_guard lock(state_->mutex);
  state_->is_open = false;
  garbage.swap(state_->segments);
}

}  // namespace c10
