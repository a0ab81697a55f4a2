#pragma once
#include <cstddef>
#include <utility>

#include "c10/core/Allocator.h"
#include "c10/util/Export.h"
#include "c10/util/intrusive_ptr.h"

namespace c10 {

/// Bytes that tensors share. `allocator` is null for memory that belongs to somebody else (NumPy,
/// DLPack), which then cannot be resized.
struct TORCH_PY_API StorageImpl final : intrusive_ptr_target {
  StorageImpl(DataPtr data, size_t nbytes, Allocator* allocator)
      : data(std::move(data)), nbytes(nbytes), allocator(allocator) {}

  bool resizable() const { return allocator != nullptr; }
  Device device() const { return data.device(); }

  DataPtr data;
  size_t nbytes;
  Allocator* allocator;
};

using Storage = intrusive_ptr<StorageImpl>;

inline Storage make_storage(size_t nbytes, Allocator* allocator) {
  return make_intrusive<StorageImpl>(allocator->allocate(nbytes), nbytes, allocator);
}

}  // namespace c10
