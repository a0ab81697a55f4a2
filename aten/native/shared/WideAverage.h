#pragma once
// Average pooling over windows whose lists of elements would take too much memory.
#include "aten/core/Tensor.h"

namespace at::native {

/// Arguments of average pooling; sizes are those of the input and of the result.
struct AverageArguments {
  IntArrayRef sizes, output_sizes, kernel_size, stride, padding;
  bool count_include_pad;
  std::optional<int64_t> divisor_override;
};

/// Whether the windows of some dimension have too many elements to list them as taps.
bool has_wide_windows(const AverageArguments& arguments);

/// Pools `from` into `to`. With `backward`, computes the gradient `to` of the input from the
/// gradient `from` of the result.
void average_wide_windows(const AverageArguments& arguments, bool backward, const Tensor& from,
                          const Tensor& to);

}  // namespace at::native
