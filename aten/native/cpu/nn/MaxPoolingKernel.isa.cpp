// Max pooling: the largest element of every window and its place in the plane. The windows of each
// dimension are a table, which can come from a kernel, from adaptive or from fractional pooling.
#include <algorithm>
#include <array>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/MaxPoolingKernel.isa.h"
#include "aten/native/declarations/nn/MaxPooling.h"
#include "aten/native/functors/PoolWindows.h"
#include "aten/native/shared/PoolingGeometry.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Window j of a dimension covers the elements begin[j], begin[j] + step, ... below end[j]. Windows
/// of a kernel are regular too: element k of window j is j * stride + k * step - padding, if that
/// is inside. `kernel` is 0 for all other windows.
struct WindowAxis {
  int64_t in = 1, out = 1, step = 1;
  std::vector<int64_t> begin{0}, end{1};
  int64_t kernel = 0, stride = 1, padding = 0;

  void set(int64_t j, PoolWindow window) {
    begin[j] = window.begin;
    end[j] = window.end;
  }
};
using WindowAxes = std::array<WindowAxis, 3>;  // missing dimensions in front

/// The number of elements in an input plane, or in an output plane.
int64_t plane_of(const WindowAxes& axes, bool input) {
  int64_t size = 1;
  for (const WindowAxis& axis : axes) size *= input ? axis.in : axis.out;
  return size;
}

/// An axis whose tables have room for `out` windows.
WindowAxis with_room(int64_t in, int64_t out) {
  WindowAxis axis;
  axis.in = in;
  axis.out = out;
  axis.begin.resize(out);
  axis.end.resize(out);
  return axis;
}

/// Windows of a kernel.
WindowAxis dilated_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
                        int64_t dilation) {
  WindowAxis axis = with_room(in, out);
  axis.step = dilation;
  axis.kernel = kernel;
  axis.stride = stride;
  axis.padding = padding;

  for (int64_t j = 0; j < out; ++j)
    axis.set(j, dilated_window(in, kernel, stride, padding, dilation, j));
  return axis;
}

/// Windows that divide the input evenly.
WindowAxis adaptive_axis(int64_t in, int64_t out) {
  WindowAxis axis = with_room(in, out);
  for (int64_t j = 0; j < out; ++j) axis.set(j, adaptive_window(in, out, j));
  return axis;
}

/// Windows at pseudo-random steps.
template <typename T>
WindowAxis fractional_axis(int64_t in, int64_t out, int64_t kernel, T sample) {
  WindowAxis axis = with_room(in, out);
  for (int64_t j = 0; j < out; ++j) axis.set(j, fractional_window(in, out, kernel, sample, j));
  return axis;
}

/// Calls f(position in the output plane, offset of the first element, z, y, x) for every window.
template <typename F>
void for_each_window(const WindowAxes& axes, const F& f) {
  const int64_t rows = axes[1].in;
  const int64_t columns = axes[2].in;
  const int64_t last = plane_of(axes, true) - 1;

  int64_t position = 0;
  for (int64_t z = 0; z < axes[0].out; ++z) {
    for (int64_t y = 0; y < axes[1].out; ++y) {
      for (int64_t x = 0; x < axes[2].out; ++x) {
        // A dilated window can begin beyond a small input; its place is still inside the plane.
        const int64_t first =
            (axes[0].begin[z] * rows + axes[1].begin[y]) * columns + axes[2].begin[x];
        f(position++, std::min(first, last), z, y, x);
      }
    }
  }
}

/// Calls f(offset) for every element of a window.
template <typename F>
inline void for_each_place(const WindowAxes& axes, int64_t z, int64_t y, int64_t x, const F& f) {
  for (int64_t i = axes[0].begin[z]; i < axes[0].end[z]; i += axes[0].step) {
    for (int64_t j = axes[1].begin[y]; j < axes[1].end[y]; j += axes[1].step) {
      const int64_t row = (i * axes[1].in + j) * axes[2].in;
      for (int64_t k = axes[2].begin[x]; k < axes[2].end[x]; k += axes[2].step) f(row + k);
    }
  }
}

/// Pools one plane. Like PyTorch, takes the first of equal elements and the last NaN. `indices` may
/// be null.
template <typename scalar_t>
void pool_plane(const WindowAxes& axes, const scalar_t* in, scalar_t* out, int64_t* indices) {
  using value_t = opmath_type<scalar_t>;
  for_each_window(axes, [&](int64_t position, int64_t first, int64_t z, int64_t y, int64_t x) {
    value_t best = lowest_value<value_t>();
    int64_t place = first;
    for_each_place(axes, z, y, x, [&](int64_t candidate) {
      const value_t value = static_cast<value_t>(in[candidate]);
      const bool better = value > best || value != value;
      best = better ? value : best;
      place = better ? candidate : place;
    });

    out[position] = static_cast<scalar_t>(best);
    if (indices != nullptr) indices[position] = place;
  });
}

/// Integers as wide as the compared values, so that both fill the same vectors.
template <typename value_t>
using place_t = std::conditional_t<sizeof(value_t) == 4, int32_t, int64_t>;

/// best[i] = max(best[i], values[i * stride]); where that is a new maximum, its place is
/// first + i * stride.
template <int64_t kStride, typename scalar_t, typename value_t>
void take_better(const scalar_t* values, int64_t stride, int64_t first, int64_t count,
                 value_t* best, place_t<value_t>* places) {
  using P = place_t<value_t>;
  const int64_t step = kStride > 0 ? kStride : stride;
  for (int64_t i = 0; i < count; ++i) {
    const value_t value = static_cast<value_t>(values[i * step]);
    const bool better = (value > best[i]) | (value != value);
    best[i] = better ? value : best[i];
    places[i] =
        better ? static_cast<P>(first) + static_cast<P>(i) * static_cast<P>(step) : places[i];
  }
}

/// The same without places.
template <int64_t kStride, typename scalar_t, typename value_t>
void take_larger(const scalar_t* values, int64_t stride, int64_t count, value_t* best) {
  const int64_t step = kStride > 0 ? kStride : stride;
  for (int64_t i = 0; i < count; ++i) {
    const value_t value = static_cast<value_t>(values[i * step]);
    best[i] = (value > best[i]) | (value != value) ? value : best[i];
  }
}

/// Updates the maxima of one line of windows. The caller initializes `best` and, unless it is null,
/// `places`.
template <typename scalar_t, typename value_t>
void pool_line(const WindowAxes& axes, int64_t z, int64_t y, const scalar_t* in, value_t* best,
               place_t<value_t>* places) {
  const WindowAxis& line = axes[2];
  const int64_t width = line.out;
  const int64_t stride = line.stride;

  // Windows [begin, end) take the elements from offset `from` on, `stride` apart.
  const auto take = [&](int64_t from, int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    if (places == nullptr) {
      const auto larger = stride == 1   ? take_larger<1, scalar_t, value_t>
                          : stride == 2 ? take_larger<2, scalar_t, value_t>
                                        : take_larger<0, scalar_t, value_t>;
      return larger(in + from, stride, count, best + begin);
    }

    const auto better = stride == 1   ? take_better<1, scalar_t, value_t>
                        : stride == 2 ? take_better<2, scalar_t, value_t>
                                      : take_better<0, scalar_t, value_t>;
    better(in + from, stride, from, count, best + begin, places + begin);
  };

  // For one element of the kernel, the windows [begin, end) have that element inside the line.
  for (int64_t i = axes[0].begin[z]; i < axes[0].end[z]; i += axes[0].step) {
    for (int64_t j = axes[1].begin[y]; j < axes[1].end[y]; j += axes[1].step) {
      const int64_t row = (i * axes[1].in + j) * line.in;
      for (int64_t k = 0; k < line.kernel; ++k) {
        const int64_t offset = k * line.step - line.padding;
        const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
        const int64_t end =
            offset >= line.in ? begin : std::min(width, (line.in - 1 - offset) / stride + 1);

        const int64_t from = row + begin * stride + offset;
        if (begin < end) take(from, begin, end);
      }
    }
  }
}

/// Does the same as pool_plane for windows of a kernel, a line of windows at a time. `indices` may
/// be null.
template <typename scalar_t>
void pool_lines(const WindowAxes& axes, const scalar_t* in, scalar_t* out, int64_t* indices) {
  using value_t = opmath_type<scalar_t>;
  using P = place_t<value_t>;
  const int64_t width = axes[2].out;
  const int64_t last = plane_of(axes, true) - 1;
  std::vector<value_t> memory(std::is_same_v<scalar_t, value_t> ? 0 : width);
  std::vector<P> places(indices == nullptr ? 0 : width);

  for (int64_t z = 0; z < axes[0].out; ++z) {
    for (int64_t y = 0; y < axes[1].out; ++y, out += width) {
      value_t* best = memory.data();
      if constexpr (std::is_same_v<scalar_t, value_t>) best = out;
      std::fill_n(best, width, lowest_value<value_t>());

      // Windows without a larger element keep the place of their first one.
      const int64_t base = (axes[0].begin[z] * axes[1].in + axes[1].begin[y]) * axes[2].in;
      for (int64_t x = 0; indices != nullptr && x < width; ++x)
        places[x] = static_cast<P>(std::min(base + axes[2].begin[x], last));

      pool_line(axes, z, y, in, best, indices == nullptr ? nullptr : places.data());

      if constexpr (!std::is_same_v<scalar_t, value_t>) {
        for (int64_t x = 0; x < width; ++x) out[x] = static_cast<scalar_t>(best[x]);
      }

      if (indices == nullptr) continue;
      for (int64_t x = 0; x < width; ++x) indices[x] = places[x];
      indices += width;
    }
  }
}

/// Does the same as pool_plane for `inner` neighbouring channels at a time.
template <typename scalar_t>
void pool_channels(const WindowAxes& axes, int64_t inner, const scalar_t* in, scalar_t* out,
                   int64_t* indices) {
  using value_t = opmath_type<scalar_t>;
  std::vector<value_t> best(inner);
  std::vector<place_t<value_t>> places(inner);

  for_each_window(axes, [&](int64_t position, int64_t first, int64_t z, int64_t y, int64_t x) {
    std::fill_n(best.data(), inner, lowest_value<value_t>());
    std::fill_n(places.data(), inner, static_cast<place_t<value_t>>(first));

    for_each_place(axes, z, y, x, [&](int64_t candidate) {
      const scalar_t* values = in + candidate * inner;
      const auto place = static_cast<place_t<value_t>>(candidate);
      for (int64_t c = 0; c < inner; ++c) {
        const value_t value = static_cast<value_t>(values[c]);
        const bool better = (value > best[c]) | (value != value);
        best[c] = better ? value : best[c];
        places[c] = better ? place : places[c];
      }
    });

    for (int64_t c = 0; c < inner; ++c) out[position * inner + c] = static_cast<scalar_t>(best[c]);
    for (int64_t c = 0; indices != nullptr && c < inner; ++c)
      indices[position * inner + c] = places[c];
  });
}

/// Pools all blocks of the tensor; axes_of(block) gives the windows of a block.
template <typename scalar_t, typename AxesOf>
void pool_blocks(const AxesOf& axes_of, int64_t in_plane, int64_t out_plane, const Tensor& input,
                 const Tensor& values, const Tensor& indices, const PlaneLayout& layout) {
  TORCH_CHECK(in_plane <= INT32_MAX,
              "max pooling: expected planes of less than 2^31 elements, got size ", input.sizes());

  const scalar_t* in = input.const_data_ptr<scalar_t>();
  scalar_t* out = values.data_ptr<scalar_t>();
  int64_t* places = indices.defined() ? indices.data_ptr<int64_t>() : nullptr;

  const int64_t work = std::max<int64_t>(1, std::max(in_plane, out_plane) * layout.inner * 4);
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / work);
  parallel_for(0, layout.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const scalar_t* source = in + k * in_plane * layout.inner;
      const int64_t to = k * out_plane * layout.inner;
      int64_t* to_places = places == nullptr ? nullptr : places + to;

      const auto& axes = axes_of(k);
      if (layout.inner == 1 && axes[2].kernel > 0 && axes[2].out >= 8) {
        pool_lines(axes, source, out + to, to_places);
      } else if (layout.inner == 1) {
        pool_plane(axes, source, out + to, to_places);
      } else {
        pool_channels(axes, layout.inner, source, out + to, to_places);
      }
    }
  });
}

/// Pools with the same windows for every block. Undefined `indices` are not computed.
void pool(const char* name, const WindowAxes& axes, int64_t spatial, const Tensor& self,
          const Tensor& values, const Tensor& indices) {
  if (values.numel() == 0) return;
  const PlaneLayout layout(values, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  const int64_t in_plane = plane_of(axes, true);
  const int64_t out_plane = plane_of(axes, false);
  const auto axes_of = [&](int64_t) -> const WindowAxes& { return axes; };

  // Integers are compared as int64, so that one instance serves them all.
  if (is_integral(self.scalar_type(), true)) {
    const Tensor wide = values.scalar_type() == kLong
                            ? values
                            : empty_strided_tensor(values.sizes(), values.strides(), kLong, kCPU);
    pool_blocks<int64_t>(axes_of, in_plane, out_plane, input.to(kLong), wide, indices, layout);
    if (!wide.is_same(values)) at::copy_(values, wide);
    return;
  }

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), name, [&] {
    pool_blocks<scalar_t>(axes_of, in_plane, out_plane, input, values, indices, layout);
  });
}

/// The values alone, without memory for the places, which only a gradient needs.
Tensor largest_of_windows(const char* op, size_t spatial, const Tensor& self,
                          IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation, bool ceil_mode) {
  const PoolingWindows w = pooling_windows(op, spatial, kernel_size, stride, padding, dilation);
  const Tensor values = empty_from_spec(
      std::get<0>(_max_pool_shape(self, w.kernel, w.stride, w.padding, w.dilation, ceil_mode)));
  _max_pool_kernel(self, w.kernel, w.stride, w.padding, w.dilation, ceil_mode, values, Tensor());
  return values;
}

}  // namespace

void _max_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation,
                      bool /*ceil_mode: in the sizes of out0*/, const Tensor& out0,
                      const Tensor& out1) {
  if (out0.numel() == 0) return;  // other sizes of the result may be too large to list its windows

  WindowAxes axes;
  const size_t spatial = kernel_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    axes[3 - spatial + d] = dilated_axis(self.sizes()[leading + d], out0.sizes()[leading + d],
                                         kernel_size[d], stride[d], padding[d], dilation[d]);
  }

  pool("max_pool", axes, static_cast<int64_t>(spatial), self, out0, out1);
}

Tensor max_pool1d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest_of_windows("max_pool1d", 1, self, kernel_size, stride, padding, dilation,
                            ceil_mode);
}

Tensor max_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest_of_windows("max_pool2d", 2, self, kernel_size, stride, padding, dilation,
                            ceil_mode);
}

Tensor max_pool3d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest_of_windows("max_pool3d", 3, self, kernel_size, stride, padding, dilation,
                            ceil_mode);
}

void _adaptive_max_pool_kernel(const Tensor& self, IntArrayRef output_size, const Tensor& out0,
                               const Tensor& out1) {
  if (out0.numel() == 0) return;  // however long the other dimensions are

  WindowAxes axes;
  const size_t spatial = output_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d)
    axes[3 - spatial + d] = adaptive_axis(self.sizes()[leading + d], output_size[d]);

  pool("adaptive_max_pool", axes, static_cast<int64_t>(spatial), self, out0, out1);
}

// Random samples are stored by sample, channel and dimension. Two dimensions are stored width
// first, three depth first.
void _fractional_max_pool_kernel(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples,
                                 const Tensor& out0, const Tensor& out1) {
  if (out0.numel() == 0) return;
  const int64_t spatial = static_cast<int64_t>(kernel_size.size());
  const int64_t leading = self.dim() - spatial;
  const Tensor input = self.contiguous();
  const Tensor samples = random_samples.contiguous();

  int64_t in_plane = 1;
  int64_t out_plane = 1;
  for (int64_t d = 0; d < spatial; ++d) {
    in_plane *= self.sizes()[leading + d];
    out_plane *= output_size[d];
  }

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "fractional_max_pool", [&] {
    const scalar_t* sample = samples.const_data_ptr<scalar_t>();
    const auto axes_of = [&](int64_t block) {
      WindowAxes axes;
      for (int64_t d = 0; d < spatial; ++d) {
        const auto drawn = static_cast<opmath_type<scalar_t>>(
            sample[block * spatial + (spatial == 2 ? 1 - d : d)]);
        axes[3 - spatial + d] =
            fractional_axis(self.sizes()[leading + d], output_size[d], kernel_size[d], drawn);
      }
      return axes;
    };

    pool_blocks<scalar_t>(axes_of, in_plane, out_plane, input, out0, out1,
                          PlaneLayout(out0, spatial, input));
  });
}

void _max_pool_backward_kernel(const Tensor& grad, IntArrayRef, const Tensor& indices,
                               IntArrayRef spatial, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const PlaneLayout layout(out0, static_cast<int64_t>(spatial.size()), indices);
  const Tensor grads = grad.contiguous(layout.format);
  const Tensor places = indices.contiguous(layout.format);
  const int64_t inner = layout.inner;
  const int64_t plane = out0.numel() / (layout.outer * inner);
  const int64_t pooled = grads.numel() / (layout.outer * inner);

  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "max_pool_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* from = grads.const_data_ptr<scalar_t>();
    const int64_t* place = places.const_data_ptr<int64_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();

    const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / (plane * inner));
    parallel_for(0, layout.outer, grain, [&](int64_t begin, int64_t end) {
      // Sums of a block, in the arithmetic type.
      std::vector<acc_t> sums(plane * inner);
      for (int64_t k = begin; k < end; ++k) {
        std::fill(sums.begin(), sums.end(), acc_t(0));
        for (int64_t row = k * pooled * inner; row < (k + 1) * pooled * inner; row += inner) {
          for (int64_t c = 0; c < inner; ++c) {
            const int64_t to = place[row + c];
            TORCH_CHECK_INDEX(to >= 0 && to < plane, "max_pool_backward: found index ", to,
                              " outside of a plane of ", plane, " elements");
            sums[to * inner + c] += static_cast<acc_t>(from[row + c]);
          }
        }

        for (int64_t i = 0; i < plane * inner; ++i)
          out[k * plane * inner + i] = static_cast<scalar_t>(sums[i]);
      }
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
