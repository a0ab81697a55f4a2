// Free blocks of an area: search, splitting and joining.
#include "c10/cuda/allocator/Area.h"

#include <algorithm>
#include <limits>

namespace c10::cuda {

namespace {

/// Nothing on the device uses the block any more.
bool is_fresh(const Block& block) { return block.epoch == 0 && block.others.empty(); }

bool same_streams(const Block& a, const Block& b) {
  if (a.stream != b.stream || a.others.size() != b.others.size()) return false;

  return std::all_of(a.others.begin(), a.others.end(), [&](const Use& use) {
    return std::any_of(b.others.begin(), b.others.end(),
                       [&](const Use& other) { return other.stream == use.stream; });
  });
}

void add_use(Block& block, const Use& use) {
  if (use.epoch == 0) return;
  if (use.stream == block.stream) {
    block.epoch = std::max(block.epoch, use.epoch);
    return;
  }

  for (Use& known : block.others) {
    if (known.stream != use.stream) continue;
    known.epoch = std::max(known.epoch, use.epoch);
    return;
  }
  block.others.push_back(use);
}

void add_uses(Block& block, const Block& other) {
  if (is_fresh(block)) {
    block.stream = other.stream;
    block.epoch = other.epoch;
    block.others = other.others;
  } else {
    add_use(block, {other.stream, other.epoch});
    for (const Use& use : other.others) add_use(block, use);
  }
}

}  // namespace

Area::FreeBlocks& Area::index_of(const Block& block) {
  if (!block.others.empty()) return shared_;

  const size_t slot = static_cast<size_t>(block.stream->slot);
  if (own_.size() <= slot) own_.resize(slot + 1);
  return own_[slot];
}

size_t Area::releasable_bytes(const Block& block) const {
  if (!memory_.segments.maps_granules()) {
    const bool whole =
        block.before->state == BlockState::Edge && block.after->state == BlockState::Edge;
    return whole ? block.bytes : 0;
  }

  const uintptr_t begin = granule_ceiling(block.address);
  const uintptr_t end = granule_floor(block.end());
  return begin < end ? end - begin : 0;
}

void Area::add_free(Block* block) {
  block->state = BlockState::Free;
  index_of(*block).insert(block);

  if (const size_t split = block->bytes - releasable_bytes(*block); split != 0) {
    memory_.statistics.inactive_split.add(is_small, 1);
    memory_.statistics.inactive_split_bytes.add(is_small, static_cast<int64_t>(split));
  }
}

void Area::remove_free(Block* block) {
  index_of(*block).erase(block);

  if (const size_t split = block->bytes - releasable_bytes(*block); split != 0) {
    memory_.statistics.inactive_split.subtract(is_small, 1);
    memory_.statistics.inactive_split_bytes.subtract(is_small, static_cast<int64_t>(split));
  }
}

/// Cuts the block after `bytes` and returns the second part, which has the same uses. Neither is in
/// an index.
Block* Area::split(Block* block, size_t bytes) {
  Block* const rest = memory_.blocks.take();
  rest->address = block->address + bytes;
  rest->bytes = block->bytes - bytes;
  rest->area = this;
  rest->state = block->state;
  rest->stream = block->stream;
  rest->epoch = block->epoch;
  rest->others = block->others;

  rest->before = block;
  rest->after = block->after;
  block->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  return rest;
}

/// Joins the block with the next one. Neither is in an index.
void Area::absorb_next(Block* block) {
  Block* const next = block->after;
  add_uses(*block, *next);
  block->bytes += next->bytes;
  block->after = next->after;
  next->after->before = block;
  memory_.blocks.give(next);
}

void Area::insert(Block* block) {
  const auto joins = [&](const Block& neighbour) {
    return neighbour.state == BlockState::Free &&
           (is_fresh(neighbour) || is_fresh(*block) || same_streams(neighbour, *block));
  };

  if (joins(*block->after)) {
    remove_free(block->after);
    absorb_next(block);
  }
  if (Block* const before = block->before; joins(*before)) {
    remove_free(before);
    absorb_next(before);
    block = before;
  }
  add_free(block);
}

bool Area::can_order(const StreamState& stream, const Block& block, bool foreign) {
  if (is_fresh(block) || (block.stream == &stream && block.others.empty())) return true;
  if (!foreign) return false;

  return memory_.timeline.can_order(stream, {block.stream, block.epoch}) &&
         std::all_of(block.others.begin(), block.others.end(),
                     [&](const Use& use) { return memory_.timeline.can_order(stream, use); });
}

void Area::order(StreamState& stream, const Block& block) {
  memory_.timeline.order(stream, {block.stream, block.epoch});
  for (const Use& use : block.others) memory_.timeline.order(stream, use);
}

bool Area::is_ordered(const StreamState& stream, const Block& block) const {
  return memory_.timeline.is_ordered(stream, {block.stream, block.epoch}) &&
         std::all_of(block.others.begin(), block.others.end(),
                     [&](const Use& use) { return memory_.timeline.is_ordered(stream, use); });
}

/// The smallest free block that fits and that is accepted. Stops after `most` looks at each index.
template <class Accepts>
Block* Area::find_foreign(size_t bytes, int most, Block* best, Accepts accepts) {
  const auto look = [&](const FreeBlocks& blocks) {
    int looks = 0;
    for (auto it = blocks.lower_bound(bytes); it != blocks.end() && looks < most; ++it, ++looks) {
      if (best != nullptr && best->bytes <= (*it)->bytes) return;
      if (accepts(**it)) best = *it;
    }
  };

  for (const FreeBlocks& blocks : own_) look(blocks);
  look(shared_);
  return best;
}

Block* Area::find(StreamState& stream, size_t bytes, bool foreign) {
  Block* block = nullptr;
  if (const size_t slot = static_cast<size_t>(stream.slot); slot < own_.size()) {
    const auto it = own_[slot].lower_bound(bytes);
    if (it != own_[slot].end()) block = *it;
  }

  if (foreign && memory_.timeline.streams().size() > 1) {
    block = find_foreign(bytes, 8, block,
                         [&](const Block& other) { return is_ordered(stream, other); });
    if (block == nullptr) {
      block = find_foreign(bytes, std::numeric_limits<int>::max(), nullptr,
                           [&](const Block& other) { return can_order(stream, other, true); });
    }
  }
  if (block == nullptr) return nullptr;

  order(stream, *block);
  remove_free(block);
  if (block->bytes > bytes) add_free(split(block, bytes));
  block->state = BlockState::Live;
  return block;
}

bool Area::join_all() {
  bool joined = false;
  for (const auto& range : ranges_) {
    for (Block* block = range->first->after; block != range->last; block = block->after) {
      while (block->state == BlockState::Free && block->after->state == BlockState::Free) {
        remove_free(block->after);
        remove_free(block);
        absorb_next(block);
        add_free(block);
        joined = true;
      }
    }
  }
  return joined;
}

void Area::forget_uses() {
  for (const auto& range : ranges_) {
    for (Block* block = range->first->after; block != range->last; block = block->after) {
      if (block->state != BlockState::Free) continue;
      remove_free(block);
      block->epoch = 0;
      block->others.clear();
      insert(block);
    }
  }
}

}  // namespace c10::cuda
