// What cuDNN is told of a convolution.
#pragma once
#include <string>

#include "aten/native/nn/ConvolutionGeometry.h"
#include "c10/core/ScalarType.h"

namespace at::native::cuda {

/// Which of the three tensors of a convolution is computed from the other two.
enum class ConvolutionPass : int { Forward, ImageGradient, WeightGradient };

/// All that a plan depends on. The tensors are dense, with the channels last or before the spatial
/// dimensions.
struct CudnnProblem {
  ConvolutionPass pass = ConvolutionPass::Forward;
  ScalarType dtype = kFloat;
  int spatial = 2;  // dimensions, 2 or 3: the last ones of the geometry
  bool channels_last = false;
  bool adds_bias = false;      // in the forward pass, before results are rounded
  bool tf32 = false;           // whether float32 may be rounded to TF32
  bool deterministic = false;  // whether results must have the same bits each time
  int64_t alignment = 16;      // bytes, of all addresses
  ConvolutionGeometry geometry;

  /// The last `spatial` of three numbers.
  DimVector last_of(const int64_t (&numbers)[3]) const;
  /// Sizes with `spatial` dimensions.
  DimVector image_sizes() const;
  DimVector weight_sizes() const;
  DimVector result_sizes() const;

  /// All members as bytes, for use as a key.
  std::string bytes() const;
  /// For people: "forward of float32, (32, 64, 56, 56) by (64, 64, 3, 3), ...".
  std::string text() const;
};

}  // namespace at::native::cuda
