#pragma once
// Average pooling over windows so wide that lists of their elements would fill the memory.
#include "aten/core/Tensor.h"

namespace at::native {

/// Arguments of average pooling; sizes are those of the input and of the result.
struct AverageArguments {
  IntArrayRef sizes, output_sizes, kernel_size, stride, padding;
  bool count_include_pad;
  std::optional<int64_t> divisor_override;
};

/// Whether so many elements are in the windows of one dimension that they should not be listed.
bool has_wide_windows(const AverageArguments& arguments);
/// Pools `from` into `to`; or, backward, adds up what the gradient `from` gives each element of the
/// input, `to`.
void average_wide_windows(const AverageArguments& arguments, bool backward, const Tensor& from,
                          const Tensor& to);

}  // namespace at::native
