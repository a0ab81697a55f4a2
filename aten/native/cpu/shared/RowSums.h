#pragma once
// Rows added to rows that positions choose, as index_add and scatter_add need it.
#include <cstdint>

#include "aten/dispatch/ChooseKernel.h"
#include "c10/core/Scalar.h"
#include "c10/core/ScalarType.h"

namespace at::native {

/// Row i of `in` is added to row position[i * position_step] of `out`. Rows are contiguous; out_row
/// and in_row are the bytes from one row to the next.
struct RowSums {
  char* out;
  int64_t out_row;
  const char* in;
  int64_t in_row;
  const int64_t* position;
  int64_t position_step;
  int64_t rows;
  int64_t width;
};

/// Adds `alpha` times each row, one after another. Positions must be in range.
TORCH_PY_KERNEL(void add_rows(ScalarType type, const RowSums& sums, const Scalar& alpha))

}  // namespace at::native
