#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// Windows of pooling over one to three dimensions, one value of each for every dimension.
struct PoolingWindows {
  DimVector kernel, stride, padding, dilation;
  size_t spatial() const { return kernel.size(); }
};

/// One value serves all dimensions; no stride is the kernel's size. RuntimeError for lists of
/// another length.
PoolingWindows pooling_windows(const char* op, size_t spatial, IntArrayRef kernel_size,
                               IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation);

/// Sizes of the result of pooling an input of sizes `input`; RuntimeError for what cannot be
/// pooled.
DimVector pooled_sizes(const char* op, IntArrayRef input, const PoolingWindows& windows,
                       bool ceil_mode);

/// Sizes of the result of adaptive pooling, with all its checks.
DimVector adaptive_sizes(const char* op, IntArrayRef input, IntArrayRef output_size);

}  // namespace at::native
