#pragma once
// The short lanes of tensors in groups, as the kernels of ShortLanes.h take them.
#include "aten/iteration/Lanes.h"
#include "aten/native/cpu/shared/ShortLanes.h"

namespace at::native {

/// Calls f(lanes) for all lanes of `self` along `dim`, a group of them at a time, on several
/// threads. `values` and `indices` have the same lanes, with as many elements as each has results.
template <typename F>
void for_each_short_lane_group(const Tensor& self, int64_t dim, const Tensor& values,
                               const Tensor& indices, const F& f) {
  const int64_t n = lane_size(self, dim);
  const auto bytes_along = [dim](const Tensor& tensor) {
    return lane_stride(tensor, dim) * static_cast<int64_t>(tensor.itemsize());
  };
  const int64_t along[] = {bytes_along(self), bytes_along(values), bytes_along(indices)};

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    const auto side = [&](size_t k) { return BlockSide{data[k], steps[k], along[k]}; };
    f(ShortLanes{side(0), side(1), side(2), n, width});
  };

  LaneIterator(dim, {&self, &values, &indices})
      .group_along_longest()
      .for_each_group(n * 4, kShortLaneGroup, group);
}

}  // namespace at::native
