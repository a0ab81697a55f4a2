// The columns of a convolution: for each position of the result, the elements that it depends on.
#pragma once
#include "aten/core/Tensor.h"
#include "aten/native/nn/ConvolutionGeometry.h"

namespace at::native::cuda {

// Note [Convolution as a product]
// With the windows of the image as the columns of a matrix, a convolution is a product of matrices:
// for each group, (outputs x rows) times (rows x positions), where a row stands for an element of
// the filter in a channel, and positions are those of all samples. The gradient of the image is the
// transposed product, whose columns are added up where they came from; that of the filters is the
// product of the result's gradient and the transposed columns. Columns are made for as many samples
// as kMostColumnBytes allow.

inline constexpr int64_t kMostColumnBytes = int64_t{512} << 20;

/// (groups, rows, samples * positions) of an image (samples, channels, ...), which may have any
/// strides. The samples may be a part of the geometry's batch.
Tensor columns_of(const char* name, const Tensor& image, const ConvolutionGeometry& geometry);

/// Writes to each element of the image the sum of what columns, which are float for reduced floats,
/// took from it, and its channel's
/// element of `bias`, which is contiguous, if that is defined.
void sum_columns(const char* name, const Tensor& columns, const ConvolutionGeometry& geometry,
                 const Tensor& bias, const Tensor& image);

}  // namespace at::native::cuda
