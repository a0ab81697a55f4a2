// Storage: the bytes that tensors share.
#pragma once
#include <cstddef>
#include <utility>

#include "c10/core/Allocator.h"
#include "c10/util/Export.h"
#include "c10/util/intrusive_ptr.h"

namespace c10 {

/// A block of bytes that any number of tensors use.
struct TORCH_PY_API StorageImpl final : intrusive_ptr_target {
  StorageImpl(DataPtr data, size_t nbytes, Allocator* allocator)
      : data(std::move(data)), nbytes(nbytes), capacity(nbytes), allocator(allocator) {}

  // See Note [One block per tensor].
  static void* operator new(size_t bytes);
  static void operator delete(void* object, size_t bytes);

  bool resizable() const { return allocator != nullptr; }
  Device device() const { return data.device(); }

  /// Changes nbytes. Memory is never given up: tensors may reach to the end of the largest size
  /// that the storage ever had, and read it after the storage has shrunk.
  /// Returns the memory that was replaced, null if none was: other threads may still read it.
  DataPtr resize(size_t bytes);

  DataPtr data;          // owns the memory
  size_t nbytes;         // of `data` that tensors may use
  size_t capacity;       // of `data`: the largest nbytes so far
  Allocator* allocator;  // for resizing; null if the memory cannot move (NumPy, DLPack, a buffer)
};

using Storage = intrusive_ptr<StorageImpl>;

/// New memory on a device, which has an index unless it is the only one of its type.
TORCH_PY_API Storage make_storage(size_t nbytes, Device device);

}  // namespace c10
