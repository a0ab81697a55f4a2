#pragma once
// Iteration by rows, several of them in one call of a loop.
#include "aten/iteration/TensorIterator.h"

namespace at::native {

/// Rows of n elements each. Operand k starts at data[k]; it advances by strides[k] bytes per
/// element, and by row_strides[k] from one row to the next.
struct Rows {
  char* const* data;
  const int64_t* strides;
  const int64_t* row_strides;
  int64_t n;
  int64_t count;
  int operands;
};

// What a loop prepares for its operands then serves all rows of a call, which may be short.
using RowLoop = void (*)(const void* context, const Rows& rows);

/// Calls loop(context, rows) over all elements, split over threads above the grain.
TORCH_PY_API void for_each_row(const TensorIterator& iter, RowLoop loop, const void* context,
                               int64_t grain);
/// Elements [begin, end) of the coalesced order, in the calling thread.
void serial_for_each_row(const TensorIterator& iter, RowLoop loop, const void* context,
                         int64_t begin, int64_t end);

}  // namespace at::native
