// Memory for the bodies of tensors and storages: internal to c10/core.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "c10/core/TensorImpl.h"
#include "c10/cpu/CPUAllocator.h"
#include "c10/cpu/ThreadCache.h"

namespace c10::tensor_block {

// Note [One block per tensor]
// A new CPU tensor, its storage, and its elements if there are few, are parts of one small block of
// the CPU allocator: making and freeing it takes one look at a list of the thread.
//
// Parts may end in any order, on any threads: the storage lives as long as other tensors use it,
// and elements as long as somebody holds the memory that resize() has replaced. So the block counts
// its parts, and the last one frees it. In the common case, a tensor that is the only owner of its
// storage, all end together, and nothing is counted.
//
// The bodies of views and the storages of other memory have blocks of their own. Those begin at
// multiples of 64 bytes, and parts of a common block 16 bytes behind one, which tells them apart.
// In builds with sanitizers, every object comes from malloc instead. Tested in
// tests/c10/test_tensor_block.py.

/// What is in front of the parts.
struct alignas(16) Block {
  std::atomic<uint32_t> parts;  // that are alive
  int size_class;
};

constexpr size_t round_up(size_t bytes) {
  return (bytes + kCPUAlignment - 1) / kCPUAlignment * kCPUAlignment;
}

constexpr size_t kTensorAt = sizeof(Block);
constexpr size_t kStorageAt = round_up(sizeof(TensorImpl)) + kTensorAt;
constexpr size_t kStorageEnd = kStorageAt + sizeof(StorageImpl);
constexpr size_t kElementsAt = round_up(kStorageEnd);
constexpr size_t kMostBytesOfElements = 192;  // more of them do not gain from it
static_assert(kTensorAt == 16 && alignof(TensorImpl) <= 16 && alignof(StorageImpl) <= 16);

inline bool is_part(const void* object) {
  return !block_cache::kExactBlocks &&
         reinterpret_cast<uintptr_t>(object) % kCPUAlignment == kTensorAt;
}

/// The block of a part that is `at` bytes from its start.
inline Block* block_of(const void* part, size_t at) {
  return reinterpret_cast<Block*>(const_cast<char*>(static_cast<const char*>(part)) - at);
}

inline void end_part(Block* block) {
  const bool is_last = block->parts.load(std::memory_order_acquire) == 1 ||
                       block->parts.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (is_last) block_cache::free_small(block, block->size_class);
}

inline void* new_object(size_t bytes) {
  if constexpr (block_cache::kExactBlocks) return ::operator new(bytes);
  return block_cache::allocate_small(block_cache::class_of(bytes));
}

/// Frees the memory of an object, which is `at` bytes from the start of its block if it is a part.
inline void delete_object(void* object, size_t bytes, size_t at) {
  if constexpr (block_cache::kExactBlocks) return ::operator delete(object);
  if (is_part(object)) return end_part(block_of(object, at));
  block_cache::free_small(object, block_cache::class_of(bytes));
}

/// For a tensor that ends: if nobody else uses its storage, and both are in one block, ends the
/// storage, too, and leaves null.
inline void end_storage(const TensorImpl& tensor, Storage& storage) {
  if (!is_part(&tensor) || !storage || storage.use_count() != 1 || storage.weak_use_count() != 1)
    return;

  Block* const block = block_of(&tensor, kTensorAt);
  if (block_of(storage.get(), kStorageAt) != block) return;

  // If there are no other parts than these, nobody else can change their number.
  const bool has_elements = storage->data.context() == block;
  if (block->parts.load(std::memory_order_acquire) != (has_elements ? 3 : 2)) return;

  if (has_elements) (void)storage->data.release_context();
  storage.unsafe_release()->~StorageImpl();
  block->parts.store(1, std::memory_order_relaxed);
}

}  // namespace c10::tensor_block
