// Memory that several processes map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "c10/core/Storage.h"
#include "c10/util/Export.h"

// See Note [Shared memory].
namespace c10 {

/// An unnamed file in memory and its mapping in this process. Both go with the object; the kernel
/// frees the memory when no process has a descriptor or a mapping of it any more.
class TORCH_PY_API SharedSegment {
 public:
  /// A segment of at least `bytes` zeros, with all pages present if `populate`. Throws
  /// OutOfMemoryError, or Error with the system's reason.
  static std::shared_ptr<SharedSegment> create(size_t bytes, bool populate = false);
  /// The segment behind a descriptor, which is taken over in any case. The same object while this
  /// process has the segment mapped already. Throws if the file is shorter than `bytes`.
  static std::shared_ptr<SharedSegment> open(int descriptor, size_t bytes, bool populate = false);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// The descriptor to pass to another process; -1 after close_descriptor().
  int descriptor() const { return descriptor_; }
  /// Keeps the mapping; the segment can no longer be passed on.
  void close_descriptor();

 private:
  SharedSegment(int descriptor, size_t bytes, bool populate);

  int descriptor_;
  void* data_ = nullptr;
  size_t bytes_;
  uint64_t device_ = 0;  // with inode_: the file, for finding its mapping
  uint64_t inode_ = 0;
};

/// The segment under a storage; null if its memory is private to this process.
TORCH_PY_API std::shared_ptr<SharedSegment> shared_segment(const StorageImpl& storage);
/// Sharing a storage puts its bytes into a segment, for all tensors on it, and takes away the
/// ability to resize it. copy_to_segment() makes a segment with the bytes of a CPU storage, which
/// takes time and changes nothing; move_to_segment() makes the exchange and returns the earlier
/// memory, null if the storage keeps it for those it was exported to. One thread at a time may
/// share a storage: hold sharing_mutex() if others can run in between.
TORCH_PY_API std::shared_ptr<SharedSegment> copy_to_segment(const StorageImpl& storage);
TORCH_PY_API DataPtr move_to_segment(StorageImpl& storage, std::shared_ptr<SharedSegment> segment);
TORCH_PY_API std::mutex& sharing_mutex();
/// A storage of `bytes` bytes over a segment.
TORCH_PY_API Storage storage_on_segment(std::shared_ptr<SharedSegment> segment, size_t bytes);

/// Counts the forks of this process and its ancestors. A child may use memory that was handed out
/// before the last one.
TORCH_PY_API uint64_t fork_generation();

}  // namespace c10
