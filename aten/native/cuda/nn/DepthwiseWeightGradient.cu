// The gradients of the filters of depthwise convolutions, see Note [Depthwise convolutions].
#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/native/cuda/Division.h"
#include "aten/native/cuda/nn/DepthwisePlanes.h"
#include "aten/ops/copy.h"
#include "aten/ops/sum.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

namespace {

constexpr int kWeightThreads = 256;
constexpr int64_t kWeightBlocks = 2048;  // wanted: several for each multiprocessor
constexpr int64_t kLeastTurns = 8;       // of a thread

/// What the blocks that add up the gradient of filters are told.
template <class T>
struct WeightPart {
  Planes p;
  Divisor planes, widths;  // of results
  int channels;
  uint32_t count;   // of results in a channel, in all samples
  uint32_t length;  // of a part of them
  const T* image;
  const T* grad;
  opmath_type<T>* parts;  // (parts, channels, kernel, kernel)
};

/// Adds up, for one element of the gradient of a filter after another, what the block's threads
/// have.
template <class Sum, int kCount>
SIMT_DEVICE void store_block_sums(const Sum (&sums)[kCount], Sum* out) {
  constexpr int kWarps = kWeightThreads / 32;
  SIMT_SHARED(of_warps, Sum[kWarps][kCount]);
  SIMT_UNROLL
  for (int i = 0; i < kCount; ++i) {
    Sum sum = sums[i];
    SIMT_UNROLL
    for (unsigned offset = 16; offset > 0; offset /= 2)
      sum += simt::shuffle_xor(simt::kFullMask, sum, offset);
    if (simt::lane() == 0) of_warps[simt::warp()][i] = sum;
  }
  simt::sync_block();

  const auto i = static_cast<int>(simt::thread_x());
  if (i >= kCount) return;
  Sum sum = of_warps[0][i];
  for (int warp = 1; warp < kWarps; ++warp) sum += of_warps[warp][i];
  out[i] = sum;
}

/// A block for a part of the results in a channel.
template <class T, int kKernel, int kStride>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kWeightThreads) depthwise_weights(WeightPart<T> w) {
  using Sum = opmath_type<T>;
  const auto channel = static_cast<int64_t>(simt::block_x());
  const auto part = static_cast<int64_t>(simt::block_y());
  const uint32_t begin = simt::block_y() * w.length;
  const uint32_t rest = w.count - begin;
  const uint32_t end = begin + (rest < w.length ? rest : w.length);

  Sum sums[kKernel * kKernel] = {};
  for (uint32_t i = begin + simt::thread_x(); i < end; i += kWeightThreads) {
    const uint32_t sample = w.planes.quotient(i);
    const uint32_t place = i - sample * w.planes.value();
    const auto y = static_cast<int>(w.widths.quotient(place));
    const int x = static_cast<int>(place) - y * w.p.out_width;

    const int64_t plane = static_cast<int64_t>(sample) * w.channels + channel;
    const T* const image = w.image + plane * w.p.in_height * w.p.in_width;
    const auto grad = static_cast<Sum>(w.grad[plane * w.planes.value() + place]);

    SIMT_UNROLL
    for (int j = 0; j < kKernel; ++j) {
      const int in_y = y * kStride - w.p.padding_y + j;
      if (in_y < 0 || in_y >= w.p.in_height) continue;
      SIMT_UNROLL
      for (int k = 0; k < kKernel; ++k) {
        const int in_x = x * kStride - w.p.padding_x + k;
        if (in_x < 0 || in_x >= w.p.in_width) continue;
        sums[j * kKernel + k] += grad * static_cast<Sum>(image[in_y * w.p.in_width + in_x]);
      }
    }
  }
  store_block_sums(sums, w.parts + (part * w.channels + channel) * kKernel * kKernel);
}

template <class T, int kKernel, int kStride>
void backward_to_weight(const char* name, const ConvolutionGeometry& g,
                        const ConvolutionTensors& tensors) {
  const int64_t count = g.batch * g.output_plane();
  const int64_t most = (count - 1) / (kLeastTurns * kWeightThreads) + 1;
  const int64_t wanted = std::clamp<int64_t>(kWeightBlocks / g.channels, 1, most);
  const int64_t length = (count - 1) / wanted + 1;
  const int64_t parts = (count - 1) / length + 1;
  const Tensor sums = empty_tensor({parts, g.channels, 1, kKernel, kKernel},
                                   c10::scalar_type_of<opmath_type<T>>, tensors.weight.device());

  const WeightPart<T> part{planes_of(g),
                           Divisor(static_cast<uint32_t>(g.output_plane())),
                           Divisor(static_cast<uint32_t>(g.output[2])),
                           static_cast<int>(g.channels),
                           static_cast<uint32_t>(count),
                           static_cast<uint32_t>(length),
                           tensors.image.const_data_ptr<T>(),
                           tensors.result.const_data_ptr<T>(),
                           sums.data_ptr<opmath_type<T>>()};
  c10::cuda::launch(name, &depthwise_weights<T, kKernel, kStride>,
                    dim3(static_cast<unsigned>(g.channels), static_cast<unsigned>(parts)),
                    dim3(kWeightThreads), 0, c10::cuda::current_stream(), part);
  const Tensor sum = at::sum(sums, IntArrayRef(int64_t{0}), false);
  at::copy_(tensors.weight, sum.view(tensors.weight.sizes()));
}

}  // namespace

void depthwise_weight_gradient(const char* name, const ConvolutionGeometry& geometry,
                               const ConvolutionTensors& tensors) {
  AT_DISPATCH_FLOATING_AND_REDUCED(tensors.image.scalar_type(), name, [&] {
    with_depthwise_filter(geometry, [&](auto kernel, auto stride) {
      backward_to_weight<scalar_t, decltype(kernel)::value, decltype(stride)::value>(name, geometry,
                                                                                     tensors);
    });
  });
}

}  // namespace at::native::cuda
