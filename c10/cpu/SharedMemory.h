#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "c10/core/Storage.h"
#include "c10/util/Export.h"

// Memory that several processes look at. See Note [Shared memory].

namespace c10 {

/// A file in memory without a name, and its mapping in this process. Both go with the object; the
/// kernel frees the memory when no process has a descriptor or a mapping of it any more.
class TORCH_PY_API SharedSegment {
 public:
  /// Zeros, at least `bytes` of them, with all pages present if `populate`. Throws OutOfMemoryError
  /// or Error naming the system's reason.
  static std::shared_ptr<SharedSegment> create(size_t bytes, bool populate = false);
  /// The segment behind a descriptor, which is taken over in any case: the same object while this
  /// process has it mapped already. Throws when the file is shorter than `bytes`.
  static std::shared_ptr<SharedSegment> open(int descriptor, size_t bytes, bool populate = false);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// To be passed to another process; -1 once it was closed.
  int descriptor() const { return descriptor_; }
  /// The mapping stays; the segment can no longer be passed on.
  void close_descriptor();

 private:
  SharedSegment(int descriptor, size_t bytes, bool populate);

  int descriptor_;
  void* data_ = nullptr;
  size_t bytes_;
  uint64_t device_ = 0, inode_ = 0;
};

/// The segment under a storage; null when its memory is private to this process.
TORCH_PY_API std::shared_ptr<SharedSegment> shared_segment(const StorageImpl& storage);
/// Sharing a storage, whose bytes are then in a segment for all tensors on it, and which cannot be
/// resized any more: a new segment with the bytes of a CPU storage, which takes time and changes
/// nothing, and the exchange. One storage is shared by one thread at a time: whoever lets others
/// run in between holds the mutex.
TORCH_PY_API std::shared_ptr<SharedSegment> copy_to_segment(const StorageImpl& storage);
TORCH_PY_API void move_to_segment(StorageImpl& storage, std::shared_ptr<SharedSegment> segment);
TORCH_PY_API std::mutex& sharing_mutex();
/// A storage of `bytes` bytes over a segment.
TORCH_PY_API Storage storage_on_segment(std::shared_ptr<SharedSegment> segment, size_t bytes);

/// Counts the forks of this process (and of its ancestors): memory handed out before the last one
/// may be in use by a child.
TORCH_PY_API uint64_t fork_generation();

}  // namespace c10
