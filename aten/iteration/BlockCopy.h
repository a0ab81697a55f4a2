#pragma once
// Copies of strided rows and of two-dimensional blocks, compiled once per instruction set.
#include <cstddef>
#include <cstdint>

#include "aten/dispatch/ChooseKernel.h"
#include "c10/util/Export.h"

namespace at::native {

/// One side of a block: its first element, and the bytes from one element to the next along the
/// two dimensions of the block.
struct BlockSide {
  char* data;
  int64_t step0;
  int64_t step1;
};

/// Copies n0 x n1 elements of `size` bytes (1, 2, 4, 8 or 16). Vectorised where each side is
/// contiguous along either dimension. `stream` writes whole cache lines past the caches where the
/// target allows it.
TORCH_PY_KERNEL(TORCH_PY_API void copy_block(const BlockSide& target, const BlockSide& source,
                                             size_t size, int64_t n0, int64_t n1, bool stream))

/// Copies a row of n elements, each `target_step` and `source_step` bytes after the last one.
TORCH_PY_KERNEL(void copy_row(char* target, int64_t target_step, const char* source,
                              int64_t source_step, size_t size, int64_t n))

}  // namespace at::native
