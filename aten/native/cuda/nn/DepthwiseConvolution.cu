// Depthwise convolutions and their gradients, see Note [Depthwise convolutions].
#include "aten/native/cuda/nn/DepthwiseConvolution.h"

#include <limits>

#include "aten/Dispatch.h"
#include "aten/native/cuda/Division.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/nn/DepthwisePlanes.h"

namespace at::native::cuda {

namespace {

constexpr int kRows = 4;  // results of a thread

/// What the results' gradients become the image's by: with stride 1, the turned filter moves over
/// them.
Planes turned(const Planes& p, int kernel) {
  return {p.out_height,
          p.out_width,
          p.in_height,
          p.in_width,
          kernel - 1 - p.padding_y,
          kernel - 1 - p.padding_x};
}

/// A thread for kRows results in a column of a plane.
template <class T, int kKernel, int kStride, bool kTurned>
struct DepthwiseColumns {
  using Sum = opmath_type<T>;

  Planes p;
  Divisor widths, tiles, channels;
  const T* in;
  const T* weight;
  const T* bias;  // null for none
  T* out;

  DepthwiseColumns(const Planes& planes, int64_t channel_count, const Tensor& from,
                   const Tensor& filter, const Tensor& added, const Tensor& to)
      : p(planes),
        widths(static_cast<uint32_t>(planes.out_width)),
        tiles(static_cast<uint32_t>((planes.out_height - 1) / kRows + 1)),
        channels(static_cast<uint32_t>(channel_count)),
        in(from.const_data_ptr<T>()),
        weight(filter.const_data_ptr<T>()),
        bias(added.defined() ? added.const_data_ptr<T>() : nullptr),
        out(to.data_ptr<T>()) {}

  int64_t threads(int64_t plane_count) const {
    return plane_count * tiles.value() * widths.value();
  }

  SIMT_DEVICE void operator()(int64_t index) const {
    const auto flat = static_cast<uint32_t>(index);
    const uint32_t row = widths.quotient(flat);
    const auto x = static_cast<int>(flat - row * widths.value());
    const uint32_t plane = tiles.quotient(row);
    const int y = static_cast<int>(row - plane * tiles.value()) * kRows;
    const uint32_t channel = plane - channels.quotient(plane) * channels.value();

    Sum filter[kKernel * kKernel];
    SIMT_UNROLL
    for (int i = 0; i < kKernel * kKernel; ++i) {
      const int from = kTurned ? kKernel * kKernel - 1 - i : i;
      filter[i] = static_cast<Sum>(weight[channel * kKernel * kKernel + from]);
    }

    Sum sums[kRows];
    SIMT_UNROLL
    for (int i = 0; i < kRows; ++i)
      sums[i] = bias == nullptr ? Sum(0) : static_cast<Sum>(bias[channel]);
    add_products(in + static_cast<int64_t>(plane) * p.in_height * p.in_width, y, x, filter, sums);

    T* const results = out + static_cast<int64_t>(plane) * p.out_height * p.out_width;
    SIMT_UNROLL
    for (int i = 0; i < kRows; ++i)
      if (y + i < p.out_height) results[(y + i) * p.out_width + x] = static_cast<T>(sums[i]);
  }

 private:
  /// Row by row of the input, each of which several results need.
  SIMT_DEVICE void add_products(const T* plane, int y, int x,
                                const Sum (&filter)[kKernel * kKernel], Sum (&sums)[kRows]) const {
    const int left = x * kStride - p.padding_x;
    SIMT_UNROLL
    for (int r = 0; r < (kRows - 1) * kStride + kKernel; ++r) {
      const int in_y = y * kStride - p.padding_y + r;
      if (in_y < 0 || in_y >= p.in_height) continue;

      SIMT_UNROLL
      for (int j = 0; j < kKernel; ++j) {
        const bool is_inside = left + j >= 0 && left + j < p.in_width;
        const Sum element = is_inside ? static_cast<Sum>(plane[in_y * p.in_width + left + j]) : 0;
        SIMT_UNROLL
        for (int i = 0; i < kRows; ++i) {
          const int k = r - i * kStride;
          if (k >= 0 && k < kKernel) sums[i] += element * filter[k * kKernel + j];
        }
      }
    }
  }
};

template <class T, int kKernel, int kStride>
void run(const char* name, ConvolutionPass pass, const ConvolutionGeometry& g,
         const ConvolutionTensors& t) {
  const int64_t planes = g.batch * g.channels;
  if (pass == ConvolutionPass::Forward) {
    const DepthwiseColumns<T, kKernel, kStride, false> columns(planes_of(g), g.channels, t.image,
                                                               t.weight, t.bias, t.result);
    per_index(name, columns.threads(planes), columns);
  } else if constexpr (kStride == 1) {
    const DepthwiseColumns<T, kKernel, 1, true> columns(turned(planes_of(g), kKernel), g.channels,
                                                        t.result, t.weight, {}, t.image);
    per_index(name, columns.threads(planes), columns);
  }
}

bool is_known(ConvolutionPass pass, const ConvolutionGeometry& g) {
  const int64_t kernel = g.kernel[2];
  const int64_t stride = g.stride[2];
  if (g.groups != g.channels || g.groups != g.outputs) return false;
  if (g.kernel[0] != 1 || g.input[0] != 1 || g.output[0] != 1) return false;
  if (g.kernel[1] != kernel || (kernel != 3 && kernel != 5 && kernel != 7)) return false;
  if (g.stride[1] != stride || g.dilation[1] != 1 || g.dilation[2] != 1) return false;
  if (pass != ConvolutionPass::ImageGradient) return stride == 1 || stride == 2;
  return stride == 1 && g.padding[1] < kernel && g.padding[2] < kernel;
}

bool are_contiguous(const ConvolutionTensors& tensors) {
  for (const Tensor* tensor : {&tensors.image, &tensors.weight, &tensors.result}) {
    if (!tensor->is_contiguous() || tensor->numel() > std::numeric_limits<int32_t>::max())
      return false;
  }
  return tensors.image.is_floating_point();
}

}  // namespace

bool convolve_depthwise(const char* name, ConvolutionPass pass, const ConvolutionGeometry& geometry,
                        const ConvolutionTensors& tensors) {
  if (!is_known(pass, geometry) || !are_contiguous(tensors)) return false;

  ConvolutionTensors given = tensors;
  if (given.bias.defined()) given.bias = given.bias.contiguous();
  if (pass == ConvolutionPass::WeightGradient) {
    depthwise_weight_gradient(name, geometry, given);
    return true;
  }
  AT_DISPATCH_FLOATING_AND_REDUCED(given.image.scalar_type(), name, [&] {
    with_depthwise_filter(geometry, [&](auto kernel, auto stride) {
      run<scalar_t, decltype(kernel)::value, decltype(stride)::value>(name, pass, geometry, given);
    });
  });
  return true;
}

}  // namespace at::native::cuda
