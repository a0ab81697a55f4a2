// Tells whether the contents of host memory changed since they were last read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "c10/core/Storage.h"
#include "c10/util/Export.h"

namespace c10 {

// Note [Watched contents]
// What is computed from a tensor's memory, such as a packed weight, may be used again only while
// that memory is unchanged. Version counters do not tell: `tensor.data` shares the memory and has a
// counter of its own. So blocks of the CPU allocator are watched themselves, by their address, from
// the first question about them until they are written or freed. Every in-place change of any
// tensor ends the watch, because all of them count versions.
//
// Memory that can be written without the library's knowledge is never watched: memory of others,
// shared memory, memory that NumPy, DLPack or a buffer looks at (its storage has lost its
// allocator), and blocks whose address a program asked for. Tested in tests/c10/test_allocator.py
// and tests/torch_py/test_packed_weights.py.

/// What is known about the contents of a block.
struct BlockContents {
  uint64_t stamp = 0;  // names these contents, never used again; 0 if they cannot be watched
  uint32_t reads = 0;  // how often they were asked for, this time included
};

/// Smaller blocks are not watched.
inline constexpr size_t kLeastWatchedBytes = 4096;

/// Watches the block of a storage.
TORCH_PY_API BlockContents watch_contents(const StorageImpl& storage);

/// Whether a stamp still names the contents of a block.
TORCH_PY_API bool is_watched(uint64_t stamp);

/// Sets the function that is told the stamps whose contents are gone.
TORCH_PY_API void set_watch_listener(void (*listener)(uint64_t stamp));

/// The address of the block is known outside: it is never watched again.
TORCH_PY_API void expose_contents(const StorageImpl& storage);

namespace watched_blocks {

// The number of known blocks by a hash of the address, so that a write to other blocks costs one
// look.
inline constexpr size_t kSlots = 1024;
TORCH_PY_API extern std::array<std::atomic<uint32_t>, kSlots> known;

inline size_t slot_of(const void* block) {
  return (reinterpret_cast<uintptr_t>(block) >> 6) * 0x9e3779b97f4a7c15u >> 54;
}

inline bool may_know(const void* block) {
  return known[slot_of(block)].load(std::memory_order_relaxed) != 0;
}

TORCH_PY_API void end_watch(const void* block);
TORCH_PY_API void forget(const void* block);

}  // namespace watched_blocks

/// The memory that starts at `block` was, or will be, written.
inline void contents_written(const void* block) {
  if (C10_UNLIKELY(watched_blocks::may_know(block))) watched_blocks::end_watch(block);
}

/// A block is about to be freed.
inline void contents_freed(const void* block) {
  if (C10_UNLIKELY(watched_blocks::may_know(block))) watched_blocks::forget(block);
}

}  // namespace c10
