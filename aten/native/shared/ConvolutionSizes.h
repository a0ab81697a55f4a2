#pragma once
// The sizes of the results of convolutions, and the checks of their arguments.
#include "aten/core/Tensor.h"

namespace at::native::convolutions {

/// The value for dimension `d` of a parameter that has one value for all dimensions or one for
/// each.
inline int64_t at_dim(IntArrayRef parameter, int64_t d) {
  return parameter[parameter.size() == 1 ? 0 : d];
}

/// The options of a convolution.
struct Parameters {
  IntArrayRef stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

/// Raises RuntimeError unless the parameter has one value, or one for each dimension.
void check_length(const char* name, IntArrayRef parameter, int64_t spatial);

/// The sizes of the output; checks all arguments.
DimVector output_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Parameters& p);

}  // namespace at::native::convolutions
