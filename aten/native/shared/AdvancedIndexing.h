#pragma once
#include <algorithm>
#include <vector>

#include "aten/core/Tensor.h"

namespace at::native {

/// The plan of x[indices]: which memory each result element comes from.
/// Result dimensions are `before` (dimensions in front of the first index), the broadcast shape of
/// the indices, and `after`; when the indices are not neighbours, the index dimensions come first.
struct IndexPlan {
  Tensor source;  // the indexed tensor, its dimensions reordered to before, indexed, after
  DimVector before_sizes, before_strides;
  DimVector index_sizes;
  DimVector after_sizes, after_strides;  // strides in bytes
  std::vector<int64_t>
      offsets;  // bytes from an element of `before` to the one selected, per index position
  std::vector<Tensor> indices;  // positions, of index_sizes or less
  DimVector result_sizes() const;
  /// Dimensions of the result lie in memory in the order of those they come from.
  DimVector result_strides() const;
};

/// Checks dtypes, shapes and ranges (IndexError) and resolves boolean masks to positions.
TORCH_PY_API IndexPlan plan_index(const Tensor& self, TensorList indices);

/// Size and byte stride of a row, and how many rows a result has.
struct RowShape {
  int64_t length = 1;
  int64_t stride = 0;
  int64_t rows = 1;
};
TORCH_PY_API RowShape row_shape(const IndexPlan& plan);
/// Address of row `index` in the indexed tensor.
TORCH_PY_API char* row_address(const IndexPlan& plan, int64_t index);

/// Calls f(row, address) for rows [begin, end). Where positions are the fastest of a row's
/// coordinates, the others are found once for all.
template <typename F>
void for_each_row(const IndexPlan& plan, int64_t begin, int64_t end, const F& f) {
  if (plan.after_sizes.size() > 1) {
    for (int64_t row = begin; row < end; ++row) f(row, row_address(plan, row));
    return;
  }
  const int64_t positions = static_cast<int64_t>(plan.offsets.size());
  while (begin < end) {
    const int64_t first = begin % positions, count = std::min(positions - first, end - begin);
    const char* start = row_address(plan, begin) - plan.offsets[first];
    for (int64_t i = 0; i < count; ++i) f(begin + i, start + plan.offsets[first + i]);
    begin += count;
  }
}

}  // namespace at::native
