// The 1-d lanes of tensors along one dimension, as kernels see them.
#pragma once
#include <initializer_list>

#include "aten/core/Tensor.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/LaunchPlan.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

/// Lanes of up to four tensors whose other dimensions agree. See LaneIterator for the CPU's.
struct LaneTable {
  static constexpr int kOperands = 4;

  char* data[kOperands];
  int64_t steps[kOperands];  // bytes between neighbours in a lane
  int64_t length;            // elements of a lane
  int64_t count;             // lanes
  int dims;                  // other dimensions, the fastest first
  int64_t sizes[LaunchPlan::kMaxDims];
  int64_t strides[kOperands][LaunchPlan::kMaxDims];  // bytes

  /// The first element of a lane of operand k.
  SIMT_DEVICE char* find(int k, int64_t lane) const {
    char* address = data[k];
    for (int d = 0; d < dims; ++d) {
      const int64_t rest = lane / sizes[d];
      address += (lane - rest * sizes[d]) * strides[k][d];
      lane = rest;
    }
    return address;
  }
};

namespace detail {

/// Adds a dimension outside of those that the table has, or makes the last one longer.
inline void add_dimension(LaneTable& table, int64_t size,
                          const int64_t (&strides)[LaneTable::kOperands]) {
  if (size == 1) return;

  if (table.dims > 0) {
    const int last = table.dims - 1;
    bool continues = true;
    for (int k = 0; k < LaneTable::kOperands; ++k)
      continues = continues && strides[k] == table.strides[k][last] * table.sizes[last];
    if (continues) {
      table.sizes[last] *= size;
      return;
    }
  }

  TORCH_CHECK(table.dims < LaunchPlan::kMaxDims, "tensors on a device have at most ",
              LaunchPlan::kMaxDims, " dimensions of different layout");
  table.sizes[table.dims] = size;
  for (int k = 0; k < LaneTable::kOperands; ++k) table.strides[k][table.dims] = strides[k];
  ++table.dims;
}

}  // namespace detail

/// The lanes along `dim`, which is not negative. Lengths are those of the first tensor.
inline LaneTable lane_table(int64_t dim, std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  LaneTable table{};
  table.length = lane_size(first, dim);
  table.count = 1;

  int used = 0;
  for (const Tensor* tensor : tensors) {
    table.data[used] = static_cast<char*>(tensor->data());
    table.steps[used] = lane_stride(*tensor, dim) * static_cast<int64_t>(tensor->itemsize());
    ++used;
  }

  for (int64_t d = first.dim(); d-- > 0;) {
    if (d == dim) continue;
    int64_t strides[LaneTable::kOperands] = {};
    int k = 0;
    for (const Tensor* tensor : tensors)
      strides[k++] = tensor->strides()[d] * static_cast<int64_t>(tensor->itemsize());
    table.count *= first.sizes()[d];
    detail::add_dimension(table, first.sizes()[d], strides);
  }
  return table;
}

}  // namespace at::native::cuda
