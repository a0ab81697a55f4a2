// Growth of an area: places for blocks, granules taken out of free blocks, address ranges.
#include <algorithm>

#include "c10/cuda/allocator/Area.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// Adjacent vacant blocks [first, end).
struct Region {
  AddressRange* range;
  const Block* first;
  const Block* end;

  uintptr_t address() const { return first->address; }
  uintptr_t limit() const { return end->address; }
};

/// The block that contains the address, from `start` on; the edge behind the last one.
Block* block_at(Block* start, uintptr_t address) {
  while (start->end() <= address && start->after != nullptr) start = start->after;
  return start;
}

/// The granules that cover the part of a hole between two addresses.
struct Missing {
  uintptr_t from;
  uintptr_t to;
};

Missing missing_in(const Block& hole, uintptr_t begin, uintptr_t end) {
  return {granule_floor(std::max(hole.address, begin)), granule_ceiling(std::min(hole.end(), end))};
}

/// What a block at [begin, end) needs, and what memory around it stays free.
Window measure(const Region& region, uintptr_t begin, uintptr_t end) {
  Window window{region.range, begin, end, 0, 0};
  uintptr_t mapped_from = begin;  // of the memory without a hole around the block
  uintptr_t mapped_to = 0;

  for (const Block* block = region.first; block != region.end; block = block->after) {
    uintptr_t from = block->address;
    uintptr_t to = block->end();
    if (block->state == BlockState::Hole) {
      if (to <= begin || from >= end) {
        if (from >= end) break;
        mapped_to = 0;
        continue;
      }
      const Missing missing = missing_in(*block, begin, end);
      window.granules += (missing.to - missing.from) / kGranule;
      from = missing.from;
      to = missing.to;
    }

    if (mapped_to != from) mapped_from = from;
    mapped_to = to;
    if (block->state == BlockState::Hole && to < block->end()) break;
  }
  window.leftover = mapped_to - mapped_from - (end - begin);
  return window;
}

/// Improves `best` by places in the region that begin or end where memory does: what such a place
/// leaves over borders on a hole, and so remains useful for blocks of any size.
void consider(const Region& region, size_t bytes, Window& best) {
  if (region.limit() - region.address() < bytes) return;

  const auto offer = [&](uintptr_t begin) {
    const Window window = measure(region, begin, begin + bytes);
    const bool is_better = best.range == nullptr || window.granules < best.granules ||
                           (window.granules == best.granules && window.leftover < best.leftover);
    if (is_better) best = window;
  };

  offer(region.address());
  for (const Block* block = region.first; block != region.end; block = block->after) {
    if (block->state != BlockState::Free) continue;
    if (block->address + bytes <= region.limit()) offer(block->address);
    if (block->end() >= region.address() + bytes) offer(block->end() - bytes);
  }
}

}  // namespace

Window Area::best_window(const StreamState& stream, size_t bytes, bool foreign) {
  const auto is_usable = [&](const Block& block) {
    return block.state == BlockState::Hole ||
           (block.state == BlockState::Free && can_order(stream, block, foreign));
  };

  Window best;
  for (const auto& range : ranges_) {
    for (const Block* block = range->first->after; block != range->last; block = block->after) {
      if (!is_usable(*block)) continue;

      const Block* const first = block;
      while (is_usable(*block)) block = block->after;
      consider({range.get(), first, block}, bytes, best);
      if (block == range->last) break;
    }
  }
  return best;
}

/// Makes the address the beginning of a vacant block, which comes after `start`.
Block* Area::cut_at(Block* start, uintptr_t address) {
  Block* const block = block_at(start, address);
  if (block->address == address || !block->is_vacant()) return block;
  if (block->state == BlockState::Hole) return split(block, address - block->address);

  remove_free(block);
  Block* const rest = split(block, address - block->address);
  add_free(block);
  add_free(rest);
  return rest;
}

/// Maps granules into the holes of the window, or nothing if the driver refuses.
bool Area::map_holes(const Window& window, std::span<const GranuleHandle> granules) {
  struct Piece {
    uintptr_t address;
    size_t count;
  };
  std::vector<Piece> mapped;
  size_t used = 0;

  for (const Block* block = block_at(window.range->first, window.begin);
       block->address < window.end && block->state != BlockState::Edge; block = block->after) {
    if (block->state != BlockState::Hole) continue;
    const auto [from, to] = missing_in(*block, window.begin, window.end);
    const size_t count = (to - from) / kGranule;

    if (!memory_.segments.map(from, granules.data() + used, count)) {
      for (const Piece& piece : mapped) memory_.segments.unmap(piece.address, piece.count);
      return false;
    }
    mapped.push_back({from, count});
    used += count;
  }

  // The table of granules, now that nothing can fail.
  used = 0;
  for (const Piece& piece : mapped) {
    const size_t first = (piece.address - window.range->address) / kGranule;
    auto& table = window.range->granules;
    if (table.size() < first + piece.count) table.resize(first + piece.count);
    for (size_t i = 0; i < piece.count; ++i) table[first + i] = granules[used++];
  }
  return true;
}

/// Turns the holes that map_holes has filled into free blocks.
void Area::fill_holes(const Window& window, StreamState& stream) {
  for (Block* block = block_at(window.range->first, window.begin);
       block->address < window.end && block->state != BlockState::Edge; block = block->after) {
    if (block->state != BlockState::Hole) continue;
    const auto [from, to] = missing_in(*block, window.begin, window.end);

    if (block->address < from) block = split(block, from - block->address);
    if (to < block->end()) split(block, to - block->address);
    block->stream = &stream;
    block->epoch = 0;
    add_free(block);

    const int64_t count = static_cast<int64_t>(block->bytes / kGranule);
    memory_.statistics.segment.add(is_small, count);
    memory_.statistics.reserved_bytes.add(is_small, static_cast<int64_t>(block->bytes));
  }
}

Block* Area::claim(const Window& window, StreamState& stream,
                   std::span<const GranuleHandle> granules) {
  // What may throw comes first.
  for (const Block* block = block_at(window.range->first, window.begin);
       block->address < window.end && block->state != BlockState::Edge; block = block->after) {
    if (block->state == BlockState::Free) order(stream, *block);
  }
  if (!granules.empty()) {
    if (!map_holes(window, granules)) return nullptr;
    fill_holes(window, stream);
  }

  Block* const block = cut_out(window.range->first, window.begin, window.end);
  for (Block* const neighbour : {block->before, block->after}) {
    if (neighbour->state != BlockState::Free) continue;
    remove_free(neighbour);
    insert(neighbour);
  }
  return block;
}

/// Makes [begin, end), all of it free blocks, one block in no index.
Block* Area::cut_out(Block* start, uintptr_t begin, uintptr_t end) {
  Block* const block = cut_at(start, begin);
  cut_at(block, end);

  remove_free(block);
  while (block->end() < end) {
    remove_free(block->after);
    absorb_next(block);
  }
  block->state = BlockState::Live;
  return block;
}

bool Area::can_synchronize(const Block& block) {
  return memory_.timeline.can_synchronize({block.stream, block.epoch}) &&
         std::all_of(block.others.begin(), block.others.end(),
                     [&](const Use& use) { return memory_.timeline.can_synchronize(use); });
}

void Area::append_loot(std::vector<Loot>& out, AddressRange& range, Block* first, const Block* end,
                       const Window& except) {
  uintptr_t from = first->address;
  uintptr_t to = end->address;
  if (except.range == &range && from < except.end && except.begin < to) {
    // The window contains a hole, so that it covers one side of these blocks or all of them.
    if (except.begin > from) {
      to = except.begin;
    } else {
      from = std::min(except.end, to);
    }
  }

  from = granule_ceiling(from);
  to = granule_floor(to);
  if (from >= to) return;

  out.push_back({this, &range, first, from, to});
}

void Area::find_loot(std::vector<Loot>& out, const Window& except) {
  const auto is_usable = [&](const Block& block) {
    return block.state == BlockState::Free && can_synchronize(block);
  };

  for (const auto& range : ranges_) {
    for (Block* block = range->first->after; block != range->last; block = block->after) {
      if (!is_usable(*block)) continue;

      Block* const first = block;
      while (is_usable(*block)) block = block->after;
      append_loot(out, *range, first, block, except);
      if (block == range->last) break;
    }
  }
}

void Area::plunder(const Loot& loot, size_t wanted, std::vector<GranuleHandle>& out) {
  const uintptr_t begin = std::max(loot.begin, loot.end - std::min(wanted * kGranule, loot.end));
  const size_t count = (loot.end - begin) / kGranule;

  // The host waits: the driver unmaps at once, whatever the device is doing.
  for (const Block* block = loot.first; block->address < loot.end; block = block->after) {
    if (block->end() <= begin) continue;
    memory_.timeline.synchronize({block->stream, block->epoch});
    for (const Use& use : block->others) memory_.timeline.synchronize(use);
  }
  memory_.segments.unmap(begin, count);

  const size_t first = (begin - loot.range->address) / kGranule;
  for (size_t i = 0; i < count; ++i) {
    GranuleHandle& granule = loot.range->granules[first + i];
    out.push_back(granule);
    granule = 0;
  }

  make_hole(cut_out(loot.first, begin, loot.end));
  memory_.statistics.segment.subtract(is_small, static_cast<int64_t>(count));
  memory_.statistics.reserved_bytes.subtract(is_small, static_cast<int64_t>(count * kGranule));
}

/// The block, in no index, loses its memory and joins the holes around it.
void Area::make_hole(Block* block) {
  block->state = BlockState::Hole;
  block->epoch = 0;
  block->others.clear();

  if (block->after->state == BlockState::Hole) absorb_next(block);
  if (block->before->state == BlockState::Hole) absorb_next(block->before);
}

AddressRange& Area::new_range(uintptr_t address, size_t bytes) {
  ranges_.push_back(std::make_unique<AddressRange>());
  AddressRange& range = *ranges_.back();
  range.address = address;
  range.bytes = bytes;
  range.first = memory_.blocks.take();
  range.last = memory_.blocks.take();

  Block* const block = memory_.blocks.take();
  block->address = address;
  block->bytes = bytes;
  block->area = this;
  block->before = range.first;
  block->after = range.last;

  range.first->state = BlockState::Edge;
  range.first->address = address;
  range.first->after = block;
  range.last->state = BlockState::Edge;
  range.last->address = address + bytes;
  range.last->before = block;
  return range;
}

bool Area::add_range(size_t bytes) {
  const uintptr_t address = memory_.segments.reserve(bytes);
  if (address == 0) return false;

  new_range(address, bytes);
  return true;
}

bool Area::add_segment(size_t bytes, StreamState& stream) {
  const uintptr_t address = memory_.segments.allocate(bytes);
  if (address == 0) return false;

  Block* const block = new_range(address, bytes).first->after;
  block->stream = &stream;
  add_free(block);
  memory_.statistics.segment.add(is_small, 1);
  memory_.statistics.reserved_bytes.add(is_small, static_cast<int64_t>(bytes));
  ++memory_.statistics.device_allocs;
  return true;
}

void Area::forget_range(AddressRange& range) {
  memory_.blocks.give(range.first->after);
  memory_.blocks.give(range.first);
  memory_.blocks.give(range.last);
  std::erase_if(ranges_, [&](const auto& known) { return known.get() == &range; });
}

size_t Area::free_segments() {
  size_t freed = 0;
  for (size_t i = ranges_.size(); i-- > 0;) {
    AddressRange& range = *ranges_[i];
    Block* const first = range.first->after;

    bool is_free = true;
    for (const Block* block = first; block != range.last; block = block->after)
      is_free = is_free && block->state == BlockState::Free && can_synchronize(*block);
    if (!is_free) continue;

    while (first->after != range.last) {
      remove_free(first);
      remove_free(first->after);
      absorb_next(first);
      add_free(first);
    }
    memory_.timeline.synchronize({first->stream, first->epoch});
    for (const Use& use : first->others) memory_.timeline.synchronize(use);

    remove_free(first);
    memory_.segments.free(range.address);
    freed += range.bytes;
    memory_.statistics.segment.subtract(is_small, 1);
    memory_.statistics.reserved_bytes.subtract(is_small, static_cast<int64_t>(range.bytes));
    ++memory_.statistics.device_frees;
    forget_range(range);
  }
  return freed;
}

void Area::release_ranges() {
  while (!ranges_.empty()) {
    AddressRange& range = *ranges_.back();
    TORCH_INTERNAL_ASSERT(range.first->after->state == BlockState::Hole &&
                          range.first->after->after == range.last);
    memory_.segments.release(range.address, range.bytes);
    forget_range(range);
  }
}

AddressRange* Area::range_of(uintptr_t address) const {
  for (const auto& range : ranges_) {
    if (address >= range->address && address < range->address + range->bytes) return range.get();
  }
  return nullptr;
}

bool Area::has_memory() const {
  for (const auto& range : ranges_) {
    for (const Block* block = range->first->after; block != range->last; block = block->after)
      if (block->state != BlockState::Hole) return true;
  }
  return false;
}

}  // namespace c10::cuda
