// Shared memory for a stream of messages from one process to another.
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

// See Note [Segments that come back].

namespace c10 {

/// The sending end: provides storages on segments and reuses the segments that neither process uses
/// any more.
class TORCH_PY_API SegmentPool {
 public:
  struct Exported {
    int64_t id;       // number of the segment, known to both ends
    size_t capacity;  // bytes of the segment
    int descriptor;   // to be passed along; -1 if the receiver has the segment mapped already
  };

  SegmentPool();
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  /// A storage of `bytes` uninitialised bytes.
  Storage allocate(size_t bytes);
  /// Makes the segment of a storage part of a message. nullopt if the storage is not of this pool
  /// or was sent before.
  std::optional<Exported> export_storage(const StorageImpl& storage);
  /// The receiver has these segments: closes their descriptors.
  void delivered(const std::vector<int64_t>& ids);
  /// The receiver no longer needs these segments (or a message with them was not sent). Those that
  /// are not `reusable` leave the pool.
  void release(const std::vector<int64_t>& ids, bool reusable);
  /// Removes segments that were unused for long. The receiver must forget the returned ones.
  std::vector<int64_t> trim();
  /// The number of segments, and of those that wait for use.
  std::pair<size_t, size_t> count() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// The receiving end: storages on the segments of a pool, each returned when its last tensor goes.
class TORCH_PY_API SegmentReceiver {
 public:
  SegmentReceiver();
  ~SegmentReceiver();
  SegmentReceiver(const SegmentReceiver&) = delete;
  SegmentReceiver& operator=(const SegmentReceiver&) = delete;

  /// A storage on the first `bytes` bytes of segment `id`. The first time, the segment comes with a
  /// descriptor, which the receiver takes over.
  Storage receive(int64_t id, int descriptor, size_t capacity, size_t bytes);

  /// Segments returned since the last call: those that the sender may use again, and those that it
  /// must not.
  struct Returned {
    std::vector<int64_t> reusable, dropped;
  };
  Returned take_returned();

  /// Unmaps segments that the sender has removed.
  void forget(const std::vector<int64_t>& ids);
  /// Unmaps unused segments and stops returning any; the others are unmapped with their tensors.
  void close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace c10
