#pragma once
// Depthwise convolutions, in which every output channel sees one input channel. They are computed
// directly, because gathering a matrix of columns would cost more than the products. Included by
// files compiled once per instruction set.
#include <algorithm>

#include "aten/native/cpu/nn/ConvolutionWindows.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

inline bool is_depthwise(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.group_channels() == 1 && g.group_outputs() <= 4;
}

/// The smallest number of planes for a thread.
inline int64_t depthwise_grain(const ConvolutionGeometry& g) {
  return std::max<int64_t>(1, kDefaultGrainSize /
                                  std::max<int64_t>(1, g.output_plane() * g.kernel_elements()));
}

/// out = in * weight + bias, one output plane after another; `bias` may be null.
template <typename T>
void depthwise_forward(const ConvolutionGeometry& g, const T* in, const T* weight, const T* bias,
                       T* out) {
  const int64_t elements = g.kernel_elements();
  const int64_t stride = g.stride[2];
  const ShiftedPlanes<T> shifted(g, 0, g.output_plane());

  parallel_for(0, g.batch * g.outputs, depthwise_grain(g), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t output = plane % g.outputs;
      const int64_t channel = output / g.group_outputs();
      const T* source = in + (plane / g.outputs * g.channels + channel) * g.input_plane();
      T* target = out + plane * g.output_plane();
      std::fill_n(target, g.output_plane(), bias == nullptr ? T(0) : bias[output]);

      for (int64_t k = 0; k < elements; ++k) {
        const T factor = weight[output * elements + k];
        if (!shifted.empty()) {
          shifted[k].add_seen(source, factor, target);
          continue;
        }

        for_each_run(g, k, 0, g.output_plane(),
                     [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
                       T* to = target + offset - x;
                       const T* from = source + run.line + run.source;
                       if (stride == 1) {
                         for (int64_t i = run.begin; i < run.end; ++i) to[i] += factor * from[i];
                       } else {
                         for (int64_t i = run.begin; i < run.end; ++i)
                           to[i] += factor * from[i * stride];
                       }
                     });
      }
    }
  });
}

/// The input's gradient, one input plane after another. `bias` is that of a transposed convolution,
/// by input channel; it may be null.
template <typename T>
void depthwise_input_gradient(const ConvolutionGeometry& g, const T* grad, const T* weight,
                              const T* bias, T* out) {
  const int64_t elements = g.kernel_elements();
  const int64_t stride = g.stride[2];
  const int64_t each = g.group_outputs();
  const ShiftedPlanes<T> shifted(g, 0, g.output_plane());

  parallel_for(0, g.batch * g.channels, depthwise_grain(g), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t channel = plane % g.channels;
      T* target = out + plane * g.input_plane();
      std::fill_n(target, g.input_plane(), bias == nullptr ? T(0) : bias[channel]);

      for (int64_t k = 0; k < each * elements; ++k) {
        const int64_t output = channel * each + k / elements;
        const T factor = weight[output * elements + k % elements];
        const T* source = grad + (plane / g.channels * g.outputs + output) * g.output_plane();
        if (!shifted.empty()) {
          shifted[k % elements].add_back(source, factor, target);
          continue;
        }

        for_each_run(g, k % elements, 0, g.output_plane(),
                     [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
                       const T* from = source + offset - x;
                       T* to = target + run.line + run.source;
                       if (stride == 1) {
                         for (int64_t i = run.begin; i < run.end; ++i) to[i] += factor * from[i];
                       } else {
                         for (int64_t i = run.begin; i < run.end; ++i)
                           to[i * stride] += factor * from[i];
                       }
                     });
      }
    }
  });
}

/// The weight's gradient, one kernel element after another.
template <typename T>
void depthwise_weight_gradient(const ConvolutionGeometry& g, const T* grad, const T* in, T* out) {
  const int64_t elements = g.kernel_elements();
  const int64_t stride = g.stride[2];
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, g.batch * g.output_plane()));
  const ShiftedPlanes<T> shifted(g, 0, g.output_plane());

  parallel_for(0, g.outputs * elements, grain, [&](int64_t begin, int64_t end) {
    for (int64_t element = begin; element < end; ++element) {
      const int64_t output = element / elements;
      const int64_t channel = output / g.group_outputs();
      T total = 0;

      for (int64_t n = 0; n < g.batch; ++n) {
        const T* grads = grad + (n * g.outputs + output) * g.output_plane();
        const T* source = in + (n * g.channels + channel) * g.input_plane();
        if (!shifted.empty()) {
          total += shifted[element % elements].dot(grads, source);
          continue;
        }

        constexpr int64_t kLanes = 16;
        T lanes[kLanes] = {};
        for_each_run(g, element % elements, 0, g.output_plane(),
                     [&](int64_t offset, int64_t x, int64_t, const WindowRun& run) {
                       const T* a = grads + offset - x;
                       const T* b = source + run.line + run.source;
                       int64_t i = run.begin;
                       for (; i + kLanes <= run.end; i += kLanes) {
                         for (int64_t j = 0; j < kLanes; ++j)
                           lanes[j] += a[i + j] * b[(i + j) * stride];
                       }
                       for (int64_t j = 0; i < run.end; ++i, ++j) lanes[j] += a[i] * b[i * stride];
                     });

        T sum = 0;
        for (const T lane : lanes) sum += lane;
        total += sum;
      }

      out[element] = total;
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
