#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// Windows of two-dimensional pooling: height, then width.
struct PoolingGeometry {
  int64_t kernel[2], stride[2], padding[2], dilation[2];
};

/// One value serves both dimensions; no stride is the kernel's size.
inline PoolingGeometry pooling_geometry(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
  PoolingGeometry g;
  const auto pair = [](IntArrayRef values, int64_t* to) {
    to[0] = values[0];
    to[1] = values[values.size() - 1];
  };
  pair(kernel_size, g.kernel);
  pair(stride.empty() ? kernel_size : stride, g.stride);
  pair(padding, g.padding);
  pair(dilation, g.dilation);
  return g;
}

}  // namespace at::native
