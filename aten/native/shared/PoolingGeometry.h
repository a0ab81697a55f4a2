#pragma once
// Windows of pooling operators and the sizes of their results.
#include "aten/core/Tensor.h"

namespace at::native {

/// Pooling windows over one to three dimensions, with one value per dimension in each list.
struct PoolingWindows {
  DimVector kernel, stride, padding, dilation;
  size_t spatial() const { return kernel.size(); }
};

/// Expands the arguments to `spatial` values each: a single value serves all dimensions, and an
/// empty stride is the kernel size. Raises RuntimeError for lists of another length.
TORCH_PY_API PoolingWindows pooling_windows(const char* op, size_t spatial, IntArrayRef kernel_size,
                                            IntArrayRef stride, IntArrayRef padding,
                                            IntArrayRef dilation);

/// The sizes of the result of pooling an input of sizes `input`. Raises RuntimeError for invalid
/// windows or inputs.
TORCH_PY_API DimVector pooled_sizes(const char* op, IntArrayRef input,
                                    const PoolingWindows& windows, bool ceil_mode);

/// The sizes of the result of adaptive pooling, after checking the arguments.
DimVector adaptive_sizes(const char* op, IntArrayRef input, IntArrayRef output_size);

}  // namespace at::native
