// Convolutions on the host, for the emulated cuDNN.
#pragma once
#include <array>
#include <cstdint>

#include "c10/cuda/libraries/Cudnn.h"

namespace emulation {

/// A tensor (outer, channels, three spatial dimensions), of which missing ones have size 1.
struct ConvolutionOperand {
  std::array<int64_t, 5> sizes{1, 1, 1, 1, 1};
  std::array<int64_t, 5> strides{0, 0, 0, 0, 0};

  int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3] * sizes[4]; }
};

/// What an engine does to operands before it multiplies them.
enum class OperandRounding { None, Tf32, BFloat16 };

struct EmulatedConvolution {
  c10::cuda::cudnn::DataType type;
  c10::cuda::cudnn::Kind pass;  // Forward, BackwardData or BackwardFilter
  OperandRounding rounding = OperandRounding::None;
  int64_t groups = 1;
  ConvolutionOperand image;
  ConvolutionOperand weight;
  ConvolutionOperand result;
  std::array<int64_t, 3> strides{1, 1, 1};
  std::array<int64_t, 3> paddings{0, 0, 0};
  std::array<int64_t, 3> dilations{1, 1, 1};
};

/// Computes the tensor that the pass writes from the two others. Without a bias, that is null.
void convolve_on_host(const EmulatedConvolution& convolution, void* image, void* weight,
                      void* result, const void* bias);

}  // namespace emulation
