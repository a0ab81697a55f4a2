// Sampling at the points of a grid. Points are processed in tiles, so that the places and weights
// of a tile are computed once for all channels.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/BlockCopy.h"
#include "aten/iteration/LaneLoop.h"
#include "aten/native/cpu/nn/GridTile.h"
#include "aten/native/declarations/cpu/nn/GridSamplingKernel.isa.h"
#include "aten/native/nn/GridSampling.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Calls f(begin, end) for ranges of tiles of all samples; `work` is the cost of one tile.
template <typename F>
void for_each_tile(const GridSizes& s, int64_t work, const F& f) {
  parallel_for(0, s.batch * tiles(s),
               std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, work)), f);
}

/// The channels that one point takes at once, where channels are next to each other.
constexpr int64_t kChannels = 16;

/// Samples plane by plane.
template <typename T>
void sample_planes(const GridSizes& s, const T* in, const T* grid, T* out) {
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    GridTile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / tiles(s);
      tile.fill(s, grid + n * s.points * s.rank, k % tiles(s), false);

      for (int64_t c = n * s.channels; c < (n + 1) * s.channels; ++c) {
        const T* plane = in + c * s.plane;
        T sums[kTile] = {};
        for (int t = 0; t < tile.taps; ++t) {
          const int32_t* places = tile.place[t];
          const T* weights = tile.weight[t];
          // The first element is read for places outside: vectors read without conditions.
          for (int64_t p = 0; p < kTile; ++p) {
            const T value = plane[places[p] < 0 ? 0 : places[p]];
            sums[p] += places[p] < 0 ? T(0) : weights[p] * value;
          }
        }

        std::copy_n(sums, tile.count, out + c * s.points + tile.first);
      }
    }
  });
}

/// sums[c] = the sum over the taps of point p, for kChannels channels.
template <typename T>
void sample_channels(const GridTile<T>& tile, int64_t p, const T* in, int64_t channels, T* sums) {
  T local[kChannels] = {};
  for (int t = 0; t < tile.taps; ++t) {
    if (tile.place[t][p] < 0) continue;
    const T weight = tile.weight[t][p];
    const T* element = in + tile.place[t][p] * channels;
    for_each_lane<kChannels>([&](int64_t c) { local[c] += weight * element[c]; });
  }
  for_each_lane<kChannels>([&](int64_t c) { sums[c] = local[c]; });
}

/// The same for `width` channels, fewer than kChannels.
template <typename T>
void sample_few_channels(const GridTile<T>& tile, int64_t p, const T* in, int64_t channels,
                         int64_t width, T* sums) {
  std::fill_n(sums, width, T(0));
  for (int t = 0; t < tile.taps; ++t) {
    if (tile.place[t][p] < 0) continue;
    const T weight = tile.weight[t][p];
    const T* element = in + tile.place[t][p] * channels;
#pragma GCC ivdep
    for (int64_t c = 0; c < width; ++c) sums[c] += weight * element[c];
  }
}

/// Samples point by point, with the channels of an element next to each other in `in`. The sums of
/// a tile are transposed into the planes of `out`.
template <typename T>
void sample_points(const GridSizes& s, const T* in, const T* grid, T* out) {
  constexpr int64_t kSize = sizeof(T);
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    GridTile<T> tile;
    alignas(64) T sums[kTile][kChannels];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / tiles(s);
      tile.fill(s, grid + n * s.points * s.rank, k % tiles(s), false);

      for (int64_t c = 0; c < s.channels; c += kChannels) {
        const int64_t width = std::min(kChannels, s.channels - c);
        const T* elements = in + n * s.plane * s.channels + c;
        for (int64_t p = 0; p < tile.count; ++p) {
          width == kChannels ? sample_channels(tile, p, elements, s.channels, sums[p])
                             : sample_few_channels(tile, p, elements, s.channels, width, sums[p]);
        }

        T* result = out + (n * s.channels + c) * s.points + tile.first;
        copy_block({reinterpret_cast<char*>(result), kSize, s.points * kSize},
                   {reinterpret_cast<char*>(sums), kChannels * kSize, kSize}, kSize, tile.count,
                   width, false);
      }
    }
  });
}

/// The gradient of the input. Channels are divided into parts, so that every thread has something
/// to do. One thread adds up each plane, in order, so that results do not depend on the threads.
template <typename T>
void input_gradient(const GridSizes& s, const T* grad, const T* grid, T* out) {
  const int64_t part = std::max<int64_t>(1, std::min<int64_t>(s.channels, 16));
  const int64_t parts = (s.channels + part - 1) / part;
  const int64_t work = std::max<int64_t>(1, s.points * (part + 4));
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / work);

  parallel_for(0, s.batch * parts, grain, [&](int64_t begin, int64_t end) {
    GridTile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / parts;
      const int64_t first = k % parts * part;
      const int64_t last = std::min(s.channels, first + part);
      std::fill_n(out + (n * s.channels + first) * s.plane, (last - first) * s.plane, T(0));

      for (int64_t i = 0; i < tiles(s); ++i) {
        tile.fill(s, grid + n * s.points * s.rank, i, false);
        for (int64_t c = n * s.channels + first; c < n * s.channels + last; ++c) {
          const T* values = grad + c * s.points + tile.first;
          for (int t = 0; t < tile.taps; ++t) {
            for (int64_t p = 0; p < tile.count; ++p) {
              if (tile.place[t][p] >= 0)
                out[c * s.plane + tile.place[t][p]] += tile.weight[t][p] * values[p];
            }
          }
        }
      }
    }
  });
}

/// The gradient of the grid: the slope of each tap, times the sum over channels of gradient and
/// element.
template <typename T>
void grid_gradient(const GridSizes& s, const T* grad, const T* in, const T* grid, T* out) {
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    GridTile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / tiles(s);
      tile.fill(s, grid + n * s.points * s.rank, k % tiles(s), true);

      // Sums over channels of the gradient times the element that the tap reads.
      T products[kMostTaps][kTile] = {};
      for (int64_t c = n * s.channels; c < (n + 1) * s.channels; ++c) {
        const T* plane = in + c * s.plane;
        const T* values = grad + c * s.points + tile.first;
        for (int t = 0; t < tile.taps; ++t) {
          for (int64_t p = 0; p < tile.count; ++p) {
            const int32_t place = tile.place[t][p];
            products[t][p] += place < 0 ? T(0) : values[p] * plane[place];
          }
        }
      }

      T* result = out + (n * s.points + tile.first) * s.rank;
      for (int64_t p = 0; p < tile.count; ++p) {
        for (int64_t d = 0; d < s.rank; ++d) {
          T sum = 0;
          for (int t = 0; t < tile.taps; ++t) sum += tile.slope[d][t][p] * products[t][p];
          result[p * s.rank + d] = sum;
        }
      }
    }
  });
}

}  // namespace

void grid_sampler_kernel(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                         int64_t padding_mode, bool align_corners, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor points = for_sampling(grid);
  const Tensor out = for_samples(out0);
  const GridSizes s(input, grid, interpolation_mode, padding_mode, align_corners);

  // Reading an element with all its channels is worth a copy, unless points are few.
  const bool by_points = s.channels >= kChannels / 2 && s.points >= s.plane / 4;
  const Tensor wide = input.to(to_accumulate(input.scalar_type()));
  const Tensor x = wide.contiguous(!by_points    ? MemoryFormat::Contiguous
                                   : s.rank == 2 ? MemoryFormat::ChannelsLast
                                                 : MemoryFormat::ChannelsLast3d);

  AT_DISPATCH_FLOATING(x.scalar_type(), "grid_sampler", [&] {
    const scalar_t* elements = x.const_data_ptr<scalar_t>();
    const scalar_t* coordinates = points.const_data_ptr<scalar_t>();
    scalar_t* samples = out.data_ptr<scalar_t>();
    by_points ? sample_points(s, elements, coordinates, samples)
              : sample_planes(s, elements, coordinates, samples);
  });

  if (!out.is_same(out0)) at::copy_(out0, out);
}

std::tuple<Tensor, Tensor> _grid_sampler_backward_kernel(const Tensor& grad, const Tensor& input,
                                                         const Tensor& grid,
                                                         int64_t interpolation_mode,
                                                         int64_t padding_mode, bool align_corners) {
  const GridGradients t(grad, input, grid, interpolation_mode, padding_mode);
  const GridSizes s(input, grid, interpolation_mode, padding_mode, align_corners);

  AT_DISPATCH_FLOATING(t.input.scalar_type(), "grid_sampler_backward", [&] {
    const scalar_t* grads = t.grad.const_data_ptr<scalar_t>();
    const scalar_t* coordinates = t.grid.const_data_ptr<scalar_t>();
    if (t.of_input.defined())
      input_gradient(s, grads, coordinates, t.of_input.data_ptr<scalar_t>());
    grid_gradient(s, grads, t.input.const_data_ptr<scalar_t>(), coordinates,
                  t.of_grid.data_ptr<scalar_t>());
  });

  return t.in_dtypes_of(input, grid);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
