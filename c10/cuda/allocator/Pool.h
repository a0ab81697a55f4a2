// Pool: the memory of one device, or of the graphs that share it, with lists of ready blocks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "c10/cuda/allocator/Area.h"

namespace c10::cuda {

/// Names a private pool; (0, 0) is the default pool. torch.cuda.MemPool.id has the same form.
using PoolId = std::pair<int64_t, int64_t>;

class Pool {
 public:
  Pool(DeviceMemory& memory, PoolId id)
      : small(memory, *this, true), large(memory, *this, false), id(id), memory_(memory) {}

  /// A block from free memory; null if nothing is large enough.
  Block* take(StreamState& stream, size_t bytes);
  /// Takes back a live block, whose uses have been given their epochs.
  void give(Block* block);
  /// Empties the lists of ready blocks, so that neighbours join; false if they were empty.
  bool flush();

  Area& area_of(size_t bytes) { return bytes < kSmallLimit ? small : large; }
  bool is_private() const { return id != PoolId{0, 0}; }
  /// Whether free memory may leave the pool: graphs keep the addresses of their private pool.
  bool is_open() const { return !is_private() || users == 0; }
  /// Whether streams may wait for one another's blocks: a capture must not record such events.
  bool shares_between_streams() const { return captures == 0; }

  bool has_memory() const { return small.has_memory() || large.has_memory(); }

  Area small;
  Area large;
  const PoolId id;
  int users = 0;     // of a private pool: begin_pool less release_pool
  int captures = 0;  // in progress

 private:
  using QuickLists = std::array<Block*, kSmallClasses>;

  DeviceMemory& memory_;
  std::vector<std::unique_ptr<QuickLists>> quick_;  // by slot of the stream that frees and takes
  bool has_quick_ = false;
};

/// The size of the block that a request gets.
constexpr size_t block_bytes(size_t requested) {
  if (requested < kSmallLimit) return small_class_bytes(small_class(requested));
  return (requested + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

}  // namespace c10::cuda
