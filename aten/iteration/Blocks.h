#pragma once
// Iteration by two-dimensional blocks, where rows one after another would be slow.
#include "aten/iteration/Rows.h"

namespace at::native {

// Note [Blocks]
// Rows along dimension 0 are slow in two cases. If an operand is contiguous along another dimension
// (a transposed one), each of its cache lines is read once per element. If rows are short, their
// loops cost more than their elements. Blocks then cover dimension 0 and one other dimension;
// operands that are in the way of a contiguous loop are staged: their part of a block is copied to
// a buffer in the order of dimension 0, and the output's part back from one. Which block an element
// belongs to depends on shapes and strides only, and every element is computed as in a row.

/// Elements below which a loop is over before its blocks are planned.
constexpr int64_t kLeastInBlocks = 64;

/// The dimension that forms blocks with dimension 0, and the operands to be staged.
struct BlockPlan {
  int other = 0;         // 0 if rows are better than blocks
  bool is_flat = false;  // a block is one loop over all its elements, otherwise one per row
  unsigned staged = 0;   // bit k for operand k
  int64_t extent0 = 0;   // the largest block
  int64_t extent1 = 0;

  bool stages(int operand) const { return (staged >> operand & 1) != 0; }
};

/// The blocks for a loop over all operands, at least two-dimensional.
BlockPlan plan_blocks(const TensorIterator& iter);

/// Calls loop(context, rows) over all elements by the blocks of `plan`, as for_each_row.
void for_each_block(const TensorIterator& iter, const BlockPlan& plan, RowLoop loop,
                    const void* context, int64_t grain);

/// Copies operand 1 to operand 0, of the same element size, without conversion.
TORCH_PY_API void copy_elements(const TensorIterator& iter);

}  // namespace at::native
