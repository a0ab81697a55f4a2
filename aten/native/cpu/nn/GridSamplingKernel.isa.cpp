// Sampling at the points of a grid. Points are processed in tiles, so that the places and weights
// of a tile are computed once for all channels.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/GridSamplingKernel.isa.h"
#include "aten/native/nn/GridSampling.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kTile = 64;  // points of a tile
constexpr int kMostTaps = 16;  // elements that a point reads: 4 x 4 for cubic interpolation

/// The sizes as three dimensions; a missing dimension has size 1 and comes first.
struct Sampling {
  GridSampler sampler;
  int64_t batch, channels, rank, points = 1, plane = 1;
  int64_t size[3] = {1, 1, 1};

  Sampling(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
           bool align_corners)
      : sampler{static_cast<GridSampler::Mode>(mode), static_cast<GridSampler::Outside>(padding),
                align_corners},
        batch(input.sizes()[0]),
        channels(input.sizes()[1]),
        rank(input.dim() - 2) {
    for (int64_t d = 0; d < rank; ++d) {
      size[3 - rank + d] = input.sizes()[d + 2];
      plane *= input.sizes()[d + 2];
      points *= grid.sizes()[d + 1];
    }
  }

  void check() const {
    TORCH_CHECK(plane <= INT32_MAX,
                "grid_sampler(): expected planes of less than 2^31 elements, got ", plane);
  }

  int64_t tiles() const { return (points + kTile - 1) / kTile; }
};

/// The elements that the points of a tile read, as [tap][point]. Place -1 is outside.
template <typename T>
struct Tile {
  int64_t first, count;
  int taps = 1;
  int32_t place[kMostTaps][kTile];
  T weight[kMostTaps][kTile];
  T slope[3][kMostTaps][kTile];  // of the weight, by the grid's coordinates x, y and z

  /// Computes the taps of a tile; `grid` has the coordinates of one sample, (points, rank).
  void fill(const Sampling& s, const T* grid, int64_t tile, bool slopes) {
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
  void combine(const Sampling& s, const GridTaps<T> (&axes)[3], const int (&counts)[3], int64_t p,
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
void for_each_tile(const Sampling& s, int64_t work, const F& f) {
  parallel_for(0, s.batch * s.tiles(),
               std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, work)), f);
}

/// Samples all channels at all points.
template <typename T>
void sample(const Sampling& s, const T* in, const T* grid, T* out) {
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    Tile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / s.tiles();
      tile.fill(s, grid + n * s.points * s.rank, k % s.tiles(), false);

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
void input_gradient(const Sampling& s, const T* grad, const T* grid, T* out) {
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

      for (int64_t i = 0; i < s.tiles(); ++i) {
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
void grid_gradient(const Sampling& s, const T* grad, const T* in, const T* grid, T* out) {
  for_each_tile(s, kTile * (s.channels + 4), [&](int64_t begin, int64_t end) {
    Tile<T> tile;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / s.tiles();
      tile.fill(s, grid + n * s.points * s.rank, k % s.tiles(), true);

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

/// Kernels read and write the accumulation type: reduced floats are computed in float.
Tensor for_reading(const Tensor& tensor) {
  return tensor.to(to_accumulate(tensor.scalar_type())).contiguous();
}

Tensor for_writing(const Tensor& out) {
  return is_reduced_floating(out.scalar_type()) ? empty_tensor(out.sizes(), kFloat, kCPU) : out;
}

void store(const Tensor& result, const Tensor& out) {
  if (!result.is_same(out)) at::copy_(out, result);
}

}  // namespace

void grid_sampler_kernel(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                         int64_t padding_mode, bool align_corners, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor x = for_reading(input);
  const Tensor points = for_reading(grid);
  const Tensor out = for_writing(out0);

  const Sampling s(input, grid, interpolation_mode, padding_mode, align_corners);
  s.check();

  AT_DISPATCH_FLOATING(x.scalar_type(), "grid_sampler", [&] {
    sample(s, x.const_data_ptr<scalar_t>(), points.const_data_ptr<scalar_t>(),
           out.data_ptr<scalar_t>());
  });

  store(out, out0);
}

std::tuple<Tensor, Tensor> _grid_sampler_backward_kernel(const Tensor& grad, const Tensor& input,
                                                         const Tensor& grid,
                                                         int64_t interpolation_mode,
                                                         int64_t padding_mode, bool align_corners) {
  check_grid_gradient(grad, input, grid, interpolation_mode, padding_mode);
  const Tensor g = for_reading(grad);
  const Tensor x = for_reading(input);
  const Tensor points = for_reading(grid);

  const Tensor grad_input =
      input.requires_grad() ? empty_tensor(x.sizes(), x.scalar_type(), kCPU) : Tensor();
  const Tensor grad_grid = empty_tensor(points.sizes(), x.scalar_type(), kCPU);
  const Sampling s(input, grid, interpolation_mode, padding_mode, align_corners);
  s.check();

  AT_DISPATCH_FLOATING(x.scalar_type(), "grid_sampler_backward", [&] {
    const scalar_t* grads = g.const_data_ptr<scalar_t>();
    const scalar_t* coordinates = points.const_data_ptr<scalar_t>();
    if (grad_input.defined())
      input_gradient(s, grads, coordinates, grad_input.data_ptr<scalar_t>());
    grid_gradient(s, grads, x.const_data_ptr<scalar_t>(), coordinates,
                  grad_grid.data_ptr<scalar_t>());
  });

  return {grad_input.defined() ? grad_input.to(input.scalar_type()) : grad_input,
          grad_grid.to(grid.scalar_type())};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
