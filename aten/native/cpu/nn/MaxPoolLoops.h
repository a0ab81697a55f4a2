#pragma once
// Loops of max pooling over one block: a window, a line of windows or neighbouring channels at a
// time. Included by files compiled once per instruction set.
#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/functors/PoolWindows.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

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

}  // namespace

}  // namespace CPU_CAPABILITY
}  // namespace at::native
