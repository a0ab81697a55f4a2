#pragma once
// Copies of strided elements to contiguous blocks, and back.
#include <cstddef>
#include <cstdint>

#include "c10/util/Export.h"

namespace at {

// Strided operands are copied to small contiguous blocks. Each operator then needs one vectorised
// loop only (Loops.h), and the strided copies are compiled once, here, for each element size.

/// Copies n elements of `size` bytes from `source` (every `stride` bytes) to contiguous `target`.
TORCH_PY_API void gather(void* target, const void* source, int64_t stride, size_t size, int64_t n);

/// The reverse: contiguous `source` to every `stride` bytes of `target`.
TORCH_PY_API void scatter(void* target, int64_t stride, const void* source, size_t size, int64_t n);

}  // namespace at
