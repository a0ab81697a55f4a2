#pragma once
// The plan of x[indices] for tensor and mask indices, and the loop over the rows it selects.
#include <algorithm>
#include <vector>

#include "aten/core/Tensor.h"

namespace at::native {

/// The plan of x[indices]: the memory that each element of the result comes from.
/// The result's dimensions are `before` (those in front of the first index), the broadcast shape of
/// the indices, and `after`. If the indices are not adjacent, the index dimensions come first.
struct TORCH_PY_API IndexPlan {
  Tensor source;  // the indexed tensor, its dimensions reordered to before, indexed, after
  DimVector before_sizes, before_strides;
  DimVector index_sizes;
  DimVector after_sizes, after_strides;  // strides in bytes
  // For each index position: bytes from an element of `before` to the one selected. Only where the
  // host can read the indices.
  std::vector<int64_t> offsets;
  std::vector<Tensor> indices;  // positions as int64; they broadcast to index_sizes
  DimVector dimensions;         // that the indices are along
  DimVector extents, steps;     // of these dimensions: sizes, and strides in bytes

  DimVector result_sizes() const;
  /// The strides of a dense result whose dimensions lie in memory in the order of those of the
  /// source and the indices.
  DimVector result_strides() const;
};

/// Checks dtypes, shapes and ranges (IndexError) and resolves boolean masks to positions.
TORCH_PY_API IndexPlan plan_index(const Tensor& self, TensorList indices);

/// Checks the shapes of masks, whose elements need not be known, and the number of indices.
TORCH_PY_API void check_masks(const Tensor& self, TensorList indices);

/// What index_put_ writes: the plan of the places, and the values, expanded to their shape.
struct IndexPut {
  IndexPlan plan;
  Tensor values;
};

/// Checks dtypes, devices and overlaps of the arguments of index_put_.
TORCH_PY_API void check_index_put(const Tensor& self, TensorList indices, const Tensor& values);
/// Checks shapes and ranges, and copies arguments that share memory with self.
TORCH_PY_API IndexPut plan_index_put(const Tensor& self, TensorList indices, const Tensor& values);

/// The rows of a result, which run along the last dimension of `after`: their length, byte stride
/// and number.
struct RowShape {
  int64_t length = 1;
  int64_t stride = 0;
  int64_t rows = 1;
};
TORCH_PY_API RowShape row_shape(const IndexPlan& plan);

/// The address of row `index` in the indexed tensor.
TORCH_PY_API char* row_address(const IndexPlan& plan, int64_t index);

/// Calls f(row, address) for rows [begin, end). If index positions are the fastest coordinate, the
/// other coordinates are computed once for each run of positions.
template <typename F>
void for_each_row(const IndexPlan& plan, int64_t begin, int64_t end, const F& f) {
  if (plan.after_sizes.size() > 1) {
    for (int64_t row = begin; row < end; ++row) f(row, row_address(plan, row));
    return;
  }

  const int64_t positions = static_cast<int64_t>(plan.offsets.size());
  while (begin < end) {
    const int64_t first = begin % positions;
    const int64_t count = std::min(positions - first, end - begin);
    const char* start = row_address(plan, begin) - plan.offsets[first];
    for (int64_t i = 0; i < count; ++i) f(begin + i, start + plan.offsets[first + i]);
    begin += count;
  }
}

/// Whether `source` has the sizes of self in every dimension but `dim`.
inline bool same_slices(const Tensor& self, const Tensor& source, int64_t dim) {
  if (self.dim() != source.dim()) return false;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim && self.sizes()[d] != source.sizes()[d]) return false;
  }
  return true;
}

}  // namespace at::native
