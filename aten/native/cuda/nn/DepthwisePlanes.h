// The sizes of depthwise convolutions, and the filters that have kernels.
#pragma once
#include <type_traits>

#include "aten/native/cuda/nn/CudnnConvolution.h"

namespace at::native::cuda {

/// A plane of elements that a filter moves over, and the plane of its results.
struct Planes {
  int in_height, in_width;
  int out_height, out_width;
  int padding_y, padding_x;
};

inline Planes planes_of(const ConvolutionGeometry& g) {
  const auto narrow = [](int64_t number) { return static_cast<int>(number); };
  return {narrow(g.input[1]),  narrow(g.input[2]),   narrow(g.output[1]),
          narrow(g.output[2]), narrow(g.padding[1]), narrow(g.padding[2])};
}

/// Calls f(kernel, stride) with the numbers of a known filter as types.
template <class F>
void with_depthwise_filter(const ConvolutionGeometry& g, const F& f) {
  const auto with_stride = [&](auto kernel) {
    if (g.stride[2] == 1) f(kernel, std::integral_constant<int, 1>{});
    else f(kernel, std::integral_constant<int, 2>{});
  };

  switch (g.kernel[2]) {
    case 3: return with_stride(std::integral_constant<int, 3>{});
    case 5: return with_stride(std::integral_constant<int, 5>{});
    default: return with_stride(std::integral_constant<int, 7>{});
  }
}

/// The pass of convolve_depthwise that has kernels of its own, for problems that are known.
void depthwise_weight_gradient(const char* name, const ConvolutionGeometry& geometry,
                               const ConvolutionTensors& tensors);

}  // namespace at::native::cuda
