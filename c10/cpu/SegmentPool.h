#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "c10/core/Storage.h"
#include "c10/cpu/SharedMemory.h"
#include "c10/util/Export.h"

// Shared memory for a stream of messages from one process to another. See Note [Segments that come
// back].

namespace c10 {

/// The sending end: gives storages on segments, and reuses those that neither process looks at any
/// more.
class TORCH_PY_API SegmentPool {
 public:
  struct Exported {
    int64_t id;
    size_t capacity;
    int descriptor;  // to be passed along; -1 when the receiver has the segment mapped
  };

  SegmentPool();
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  /// Bytes that are not initialised.
  Storage allocate(size_t bytes);
  /// The segment of a storage becomes part of a message. None when it is no storage of this pool,
  /// or was sent before.
  std::optional<Exported> export_storage(const StorageImpl& storage);
  /// The receiver has got these: their descriptors are closed.
  void delivered(const std::vector<int64_t>& ids);
  /// The receiver (or the sender, of a message that was not sent) needs these no more. Those that
  /// cannot be `reused` leave the pool.
  void release(const std::vector<int64_t>& ids, bool reusable);
  /// Removes segments that were not used for long; the receiver is to forget the ones returned.
  std::vector<int64_t> trim();
  /// Segments, and those of them that wait for use.
  std::pair<size_t, size_t> count() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// The receiving end: storages on the segments of a pool, each given back when its last tensor
/// goes.
class TORCH_PY_API SegmentReceiver {
 public:
  SegmentReceiver();
  ~SegmentReceiver();
  SegmentReceiver(const SegmentReceiver&) = delete;
  SegmentReceiver& operator=(const SegmentReceiver&) = delete;

  /// The storage of `bytes` bytes at the start of segment `id`. The first time it comes with a
  /// descriptor, which is taken over.
  Storage receive(int64_t id, int descriptor, size_t capacity, size_t bytes);
  /// What the sender may use again, and what it must not, since the last call.
  struct Returned {
    std::vector<int64_t> reusable, dropped;
  };
  Returned take_returned();
  void forget(const std::vector<int64_t>& ids);
  /// Unmaps what is not in use; the rest goes with its tensors, and nothing is returned any more.
  void close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace c10
