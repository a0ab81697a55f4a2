#pragma once
// The windows of im2col and col2im, for host and device.
#include "c10/util/ArrayRef.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

/// The windows of a plane: sizes, and the number of windows in each dimension.
struct ColumnWindows {
  int64_t size[2], kernel[2], dilation[2], padding[2], stride[2], count[2];

  ColumnWindows(c10::IntArrayRef image, c10::IntArrayRef kernel_size, c10::IntArrayRef dilations,
                c10::IntArrayRef paddings, c10::IntArrayRef strides) {
    for (int d = 0; d < 2; ++d) {
      size[d] = image[image.size() - 2 + d];
      kernel[d] = kernel_size[d];
      dilation[d] = dilations[d];
      padding[d] = paddings[d];
      stride[d] = strides[d];
      count[d] = (size[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
    }
  }

  C10_HOST_DEVICE int64_t plane() const { return size[0] * size[1]; }
  C10_HOST_DEVICE int64_t windows() const { return count[0] * count[1]; }
  C10_HOST_DEVICE int64_t elements() const { return kernel[0] * kernel[1]; }
};

}  // namespace
}  // namespace at::native
