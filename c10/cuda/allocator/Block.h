// Block: a piece of device memory, in use or free, and the size classes of small ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c10/cuda/allocator/Timeline.h"

namespace c10::cuda {

class Area;

/// Blocks start at multiples of this and their sizes are multiples of it.
constexpr size_t kBlockAlignment = 512;
/// Requests of fewer bytes are small: their sizes come in classes.
constexpr size_t kSmallLimit = size_t{1} << 20;

// Multiples of 512 bytes up to 8 KiB, then 16 classes per power of two.
constexpr int kSmallClasses = 128;

constexpr int small_class(size_t bytes) {
  if (bytes <= 8192) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / kBlockAlignment);

  const size_t last = bytes - 1;
  const int octave = 63 - __builtin_clzll(last);  // 13 for 8193 bytes
  return 16 + (octave - 13) * 16 + static_cast<int>((last >> (octave - 4)) & 15);
}

constexpr size_t small_class_bytes(int index) {
  if (index < 16) return static_cast<size_t>(index + 1) * kBlockAlignment;

  const size_t base = size_t{8192} << ((index - 16) / 16);
  return base + base / 16 * static_cast<size_t>((index - 16) % 16 + 1);
}
static_assert(small_class_bytes(small_class(8192)) == 8192);
static_assert(small_class_bytes(small_class(8193)) == 8704);
static_assert(small_class(kSmallLimit) == kSmallClasses - 1);

/// Live: somebody's. Free: in its area's index. Quick: a free small block in a list of its class.
/// Hole: addresses without memory. Edge: the end of an address range.
enum class BlockState : uint8_t { Live, Free, Quick, Hole, Edge };

/// A piece of an address range; the blocks of a range follow one another without gaps.
struct Block {
  uintptr_t address = 0;
  size_t bytes = 0;
  Block* before = nullptr;  // the neighbours in the address range
  Block* after = nullptr;
  Area* area = nullptr;

  // Of a live block: the stream it was allocated for, and others that use it. Of a free block: the
  // uses that must be over before other streams may have it.
  StreamState* stream = nullptr;
  uint64_t epoch = 0;
  std::vector<Use> others;

  BlockState state = BlockState::Hole;
  uint8_t size_class = 0;               // of a small live or quick block
  size_t requested = 0;                 // bytes, of a live block
  const char* operator_name = nullptr;  // that the program called, of a live block
  Block* next = nullptr;                // in a quick list

  uintptr_t end() const { return address + bytes; }
  bool is_vacant() const { return state == BlockState::Free || state == BlockState::Hole; }
};

/// Descriptors of blocks, reused. Never shrinks: a descriptor is small against its block.
class BlockStock {
 public:
  Block* take();
  void give(Block* block);

 private:
  std::vector<std::unique_ptr<Block[]>> chunks_;
  Block* unused_ = nullptr;  // linked by `next`
};

}  // namespace c10::cuda
