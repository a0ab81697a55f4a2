// Descriptors of blocks.
#include "c10/cuda/allocator/Block.h"

namespace c10::cuda {

Block* BlockStock::take() {
  constexpr size_t kChunk = 256;

  if (unused_ == nullptr) {
    chunks_.push_back(std::make_unique<Block[]>(kChunk));
    for (size_t i = 0; i < kChunk; ++i) give(&chunks_.back()[i]);
  }

  Block* const block = unused_;
  unused_ = block->next;
  *block = Block();
  return block;
}

void BlockStock::give(Block* block) {
  block->others.clear();
  block->next = unused_;
  unused_ = block;
}

}  // namespace c10::cuda
