// Sampling at the points of a grid. Points are processed in tiles, so that the places and weights
// of a tile are computed once for all channels.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/GridSamplingKernel.isa.h"
#include "aten/native/nn/GridSampling.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kTile = 64;  // points of a tile
constexpr int kMostTaps = 16;  // elements that a point reads: 4 x 4 for cubic interpolation

int64_t tiles(const GridSizes& s) { return (s.points + kTile - 1) / kTile; }

/// The elements that the points of a tile read, as [tap][point]. Place -1 is outside.
template <typename T>
struct Tile {
  int64_t first, count;
  int taps = 1;
  int32_t place[kMostTaps][kTile];
  T weight[kMostTaps][kTile];
  T slope[3][kMostTaps][kTile];  // of the weight, by the grid's coordinates x, y and z

  /// Computes the taps of a tile; `grid` has the coordinates of one sample, (points, rank).
  void fill(const GridSizes& s, const T* grid, int64_t tile, bool slopes) {
    first = tile * kTile;
    count = std::min(kTile, s.points - first);

    for (int64_t p = 0; p < count; ++p) {
      GridTaps<T> axes[3];
      int counts[3] = {1, 1, 1};
      for (int64_t d = 0; d < s.rank; ++d) {
        const int64_t axis = 2 - d;  // x is the last dimension
        axes[axis] = grid_taps(s.sampler, grid[(first + p) * s.rank + d], s.size[axis]);
        counts[axis] = s.sampler.taps();
      }

      combine(s, axes, counts, p, slopes);
    }
  }

 private:
  /// Combines the taps of the three dimensions of point p: places and products of weights.
  void combine(const GridSizes& s, const GridTaps<T> (&axes)[3], const int (&counts)[3], int64_t p,
               bool slopes) {
    int t = 0;
    for (int i = 0; i < counts[0]; ++i) {
      for (int j = 0; j < counts[1]; ++j) {
        for (int k = 0; k < counts[2]; ++k, ++t) {
          const int64_t z = axes[0].index[i];
          const int64_t y = axes[1].index[j];
          const int64_t x = axes[2].index[k];
          place[t][p] = static_cast<int32_t>(
              z < 0 || y < 0 || x < 0 ? -1 : (z * s.size[1] + y) * s.size[2] + x);

          const T wz = axes[0].weight[i];
          const T wy = axes[1].weight[j];
          const T wx = axes[2].weight[k];
          weight[t][p] = wz * wy * wx;

          if (!slopes) continue;
          slope[0][t][p] = wz * wy * axes[2].slope[k];
          slope[1][t][p] = wz * axes[1].slope[j] * wx;
          slope[2][t][p] = axes[0].slope[i] * wy * wx;
        }
      }
    }

    taps = t;
  }
};

/// Calls f(begin, end) for ranges of tiles of all samples; `work` is the cost of one tile.
template <typename F>
void for_each_tile(const GridSizes& s, int64_t work, const F& f) {
  parallel_for(0, s.batch * tiles(s),
               std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, work)), f);
}

/// Samples all channels at all points.
template <typename T>
void sample(const GridSizes& s, const T* in, const T* grid, T* out) {
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    Tile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / tiles(s);
      tile.fill(s, grid + n * s.points * s.rank, k % tiles(s), false);

      for (int64_t c = n * s.channels; c < (n + 1) * s.channels; ++c) {
        const T* plane = in + c * s.plane;
        T* result = out + c * s.points + tile.first;

        T sums[kTile] = {};
        for (int t = 0; t < tile.taps; ++t) {
          for (int64_t p = 0; p < tile.count; ++p) {
            const int32_t place = tile.place[t][p];
            sums[p] += place < 0 ? T(0) : tile.weight[t][p] * plane[place];
          }
        }

        std::copy_n(sums, tile.count, result);
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
    Tile<T> tile;
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
    Tile<T> tile;
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
  const Tensor x = for_sampling(input);
  const Tensor points = for_sampling(grid);
  const Tensor out = for_samples(out0);
  const GridSizes s(input, grid, interpolation_mode, padding_mode, align_corners);

  AT_DISPATCH_FLOATING(x.scalar_type(), "grid_sampler", [&] {
    sample(s, x.const_data_ptr<scalar_t>(), points.const_data_ptr<scalar_t>(),
           out.data_ptr<scalar_t>());
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
