#pragma once
// The sizes of a convolution as its loops see them.
#include "aten/core/Tensor.h"

namespace at::native {

/// A convolution always has three spatial dimensions here; missing ones come first and have size 1.
/// A transposed convolution is described by the convolution that it is the transpose of: its result
/// is `input`, its argument `output`.
struct ConvolutionGeometry {
  int64_t batch = 0, groups = 1;
  int64_t channels = 0, outputs = 0;  // of all groups
  int64_t input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  int64_t group_channels() const { return channels / groups; }
  int64_t group_outputs() const { return outputs / groups; }
  int64_t input_plane() const { return input[0] * input[1] * input[2]; }
  int64_t output_plane() const { return output[0] * output[1] * output[2]; }
  int64_t kernel_elements() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Elements of the input that one output element of a group depends on.
  int64_t column_rows() const { return group_channels() * kernel_elements(); }

  /// Each window is one element, in order: the input is its own matrix of columns.
  bool is_pointwise() const {
    for (int d = 0; d < 3; ++d) {
      if (kernel[d] != 1 || stride[d] != 1 || padding[d] != 0 || input[d] != output[d])
        return false;
    }
    return true;
  }

  /// Each output element depends on all input elements of its group, in order.
  bool sees_whole_input() const {
    for (int d = 0; d < 3; ++d) {
      if (kernel[d] != input[d] || output[d] != 1 || padding[d] != 0) return false;
    }
    return true;
  }
};

/// The geometry for sizes (batch, channels, ...) and a weight (outputs, channels / groups, ...);
/// parameters of length 1 apply to all dimensions.
inline ConvolutionGeometry convolution_geometry(IntArrayRef input, IntArrayRef output,
                                                IntArrayRef weight, IntArrayRef stride,
                                                IntArrayRef padding, IntArrayRef dilation,
                                                int64_t groups) {
  ConvolutionGeometry g;
  g.batch = input[0];
  g.groups = groups;
  g.channels = input[1];
  g.outputs = output[1];

  const int spatial = static_cast<int>(input.size()) - 2;
  for (int d = 0; d < spatial; ++d) {
    const int to = 3 - spatial + d;
    g.input[to] = input[d + 2];
    g.output[to] = output[d + 2];
    g.kernel[to] = weight[d + 2];
    g.stride[to] = stride[stride.size() == 1 ? 0 : d];
    g.padding[to] = padding[padding.size() == 1 ? 0 : d];
    g.dilation[to] = dilation[dilation.size() == 1 ? 0 : d];

    // Strides and dilations that are never used may be larger than loops can count.
    if (g.output[to] == 1) g.stride[to] = 1;
    if (g.kernel[to] == 1) g.dilation[to] = 1;
  }
  return g;
}

}  // namespace at::native
