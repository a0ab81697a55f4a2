// Lists of ready small blocks, in front of the areas.
#include "c10/cuda/allocator/Pool.h"

namespace c10::cuda {

Block* Pool::take(StreamState& stream, size_t bytes) {
  if (bytes < kSmallLimit) {
    const size_t slot = static_cast<size_t>(stream.slot);
    if (slot < quick_.size() && quick_[slot] != nullptr) {
      Block*& list = (*quick_[slot])[static_cast<size_t>(small_class(bytes))];
      if (Block* const block = list) {
        list = block->next;
        memory_.statistics.inactive_split.subtract(true, 1);
        memory_.statistics.inactive_split_bytes.subtract(true, static_cast<int64_t>(block->bytes));
        return block;
      }
    }
  }
  return area_of(bytes).find(stream, bytes, shares_between_streams());
}

void Pool::give(Block* block) {
  // Large blocks, and those that other streams have used, join their neighbours at once.
  if (!block->area->is_small || !block->others.empty()) return block->area->insert(block);

  const size_t slot = static_cast<size_t>(block->stream->slot);
  if (quick_.size() <= slot) quick_.resize(slot + 1);
  if (quick_[slot] == nullptr) quick_[slot] = std::make_unique<QuickLists>();

  Block*& list = (*quick_[slot])[block->size_class];
  block->state = BlockState::Quick;
  block->next = list;
  list = block;
  has_quick_ = true;
  memory_.statistics.inactive_split.add(true, 1);
  memory_.statistics.inactive_split_bytes.add(true, static_cast<int64_t>(block->bytes));
}

bool Pool::flush() {
  if (!has_quick_) return false;
  has_quick_ = false;

  for (const auto& lists : quick_) {
    if (lists == nullptr) continue;
    for (Block*& list : *lists) {
      while (Block* const block = list) {
        list = block->next;
        memory_.statistics.inactive_split.subtract(true, 1);
        memory_.statistics.inactive_split_bytes.subtract(true, static_cast<int64_t>(block->bytes));
        small.insert(block);
      }
    }
  }
  return true;
}

}  // namespace c10::cuda
