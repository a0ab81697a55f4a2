// Area: the small or the large blocks of a pool, in the order of their addresses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "c10/cuda/allocator/Block.h"
#include "c10/cuda/allocator/Segments.h"
#include "c10/cuda/allocator/Statistics.h"

namespace c10::cuda {

class Pool;

/// What the areas of one device share. Everything here is called under one lock.
struct DeviceMemory {
  DeviceMemory(int device, Segments& segments, Events& events)
      : device(device), segments(segments), timeline(events) {}

  const int device;
  Segments& segments;
  Timeline timeline;
  BlockStock blocks;
  Statistics statistics;
};

/// Addresses for blocks: a reserved range, of which granules have memory, or one segment.
struct AddressRange {
  uintptr_t address;
  size_t bytes;
  Block* first;  // edges: blocks of no bytes
  Block* last;
  std::vector<GranuleHandle> granules;  // by index from `address`; 0 in holes
};

/// A place for a block, found by Area::best_window: it may lie partly in holes.
struct Window {
  AddressRange* range = nullptr;  // null if nothing fits
  uintptr_t begin = 0;
  uintptr_t end = 0;
  size_t granules = 0;  // that have to be mapped
  size_t leftover = 0;  // bytes with memory around it that stay free
};

/// Whole granules in adjacent free blocks.
struct Loot {
  Area* area;
  AddressRange* range;
  Block* first;     // of the blocks
  uintptr_t begin;  // of the granules
  uintptr_t end;
};

class Area {
 public:
  Area(DeviceMemory& memory, Pool& pool, bool is_small)
      : pool(pool), is_small(is_small), device(memory.device), memory_(memory) {}

  /// Takes the smallest free block that is large enough, cut to `bytes`, or returns null. Blocks
  /// that `stream` can use at once come first. With `foreign`, others come second, for which
  /// `stream` waits on the device.
  Block* find(StreamState& stream, size_t bytes, bool foreign);
  /// Joins all adjacent free blocks, whichever streams have used them; false if nothing was joined.
  bool join_all();
  /// Makes a block free that has become nobody's, and joins it with its neighbours.
  void insert(Block* block);

  /// The place for `bytes` that needs the fewest new granules.
  Window best_window(const StreamState& stream, size_t bytes, bool foreign);
  /// Makes the window one block, for which `stream` waits. `granules` fill its holes; null if the
  /// driver refuses to map them, with nothing changed.
  Block* claim(const Window& window, StreamState& stream, std::span<const GranuleHandle> granules);
  /// Appends what could be taken out of this area, except from the window.
  void find_loot(std::vector<Loot>& out, const Window& except);
  /// Takes up to `wanted` granules out of free blocks, after the work that uses them.
  void plunder(const Loot& loot, size_t wanted, std::vector<GranuleHandle>& out);

  /// Reserves further addresses; false if that fails.
  bool add_range(size_t bytes);
  /// Allocates a segment where granules cannot be mapped; false if the device has no memory left.
  bool add_segment(size_t bytes, StreamState& stream);
  /// Frees the segments without a live block; returns their bytes.
  size_t free_segments();
  /// Gives all address ranges back; there must be no live block and no granule left.
  void release_ranges();

  const std::vector<std::unique_ptr<AddressRange>>& ranges() const { return ranges_; }
  AddressRange* range_of(uintptr_t address) const;
  bool has_memory() const;
  /// After a capture: nothing of the captured work is on the device, so no use has to be awaited.
  void forget_uses();

  Pool& pool;
  const bool is_small;
  const int device;

 private:
  struct BySize {
    using is_transparent = void;
    bool operator()(const Block* a, const Block* b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
    }
    bool operator()(const Block* a, size_t bytes) const { return a->bytes < bytes; }
    bool operator()(size_t bytes, const Block* a) const { return bytes < a->bytes; }
  };
  using FreeBlocks = std::set<Block*, BySize>;

  FreeBlocks& index_of(const Block& block);
  void add_free(Block* block);
  void remove_free(Block* block);
  size_t releasable_bytes(const Block& block) const;
  template <class Accepts>
  Block* find_foreign(size_t bytes, int most, Block* best, Accepts accepts);
  bool is_ordered(const StreamState& stream, const Block& block) const;
  void order(StreamState& stream, const Block& block);
  bool can_order(const StreamState& stream, const Block& block, bool foreign);
  bool can_synchronize(const Block& block);
  Block* split(Block* block, size_t bytes);
  void absorb_next(Block* block);

  // Growth, in AreaGrowth.cpp.
  void append_loot(std::vector<Loot>& out, AddressRange& range, Block* first, const Block* end,
                   const Window& except);
  bool map_holes(const Window& window, std::span<const GranuleHandle> granules);
  void fill_holes(const Window& window, StreamState& stream);
  Block* cut_at(Block* start, uintptr_t address);
  Block* cut_out(Block* start, uintptr_t begin, uintptr_t end);
  AddressRange& new_range(uintptr_t address, size_t bytes);
  void make_hole(Block* block);
  void forget_range(AddressRange& range);

  DeviceMemory& memory_;
  std::vector<std::unique_ptr<AddressRange>> ranges_;
  std::vector<FreeBlocks> own_;  // by slot of the only stream that has used the block
  FreeBlocks shared_;            // used by several streams
};

}  // namespace c10::cuda
