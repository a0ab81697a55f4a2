// Convolutions of each channel by a filter of its own.
#pragma once
#include "aten/native/cuda/nn/CudnnConvolution.h"

namespace at::native::cuda {

// Note [Depthwise convolutions]
// A depthwise convolution does so little for each element that memory decides how long it takes. A
// thread computes four results below one another: of the rows that it reads, it uses each element
// for all of them, and neighbouring threads read neighbouring columns. With stride 1, the gradient
// of the image is the convolution by the turned filter. For the gradient of the filter, blocks add
// up parts of a channel, always in the same order.

/// Computes a pass of a convolution of images with as many groups as channels and outputs, by
/// square filters of 3, 5 or 7 elements a side; false for others and for tensors that are not
/// contiguous. The bias, if it is defined, is added to the results of the forward pass.
bool convolve_depthwise(const char* name, ConvolutionPass pass, const ConvolutionGeometry& geometry,
                        const ConvolutionTensors& tensors);

}  // namespace at::native::cuda
