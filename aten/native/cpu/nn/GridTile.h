#pragma once
// What the points of a grid read, for a tile of points at a time.
#include <algorithm>
#include <cstdint>

#include "aten/native/nn/GridSampling.h"
#include "aten/vec/math.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

constexpr int64_t kTile = 64;  // points of a tile
constexpr int kMostTaps = 16;  // elements that a point reads: 4 x 4 for cubic interpolation

inline int64_t tiles(const GridSizes& s) { return (s.points + kTile - 1) / kTile; }

/// What the points of a tile take from one dimension, as [tap][point]. The arithmetic is that of
/// grid_taps, in loops without branches, which the compiler does in vectors.
template <typename T>
class GridAxisTile {
 public:
  int32_t index[4][kTile];
  T weight[4][kTile];
  T slope[4][kTile];

  void fill(const GridSampler& sampler, const T* coordinate, int64_t count, int64_t size) {
    if (sampler.mode == GridSampler::Mode::Cubic)
      return fill_cubic(sampler, coordinate, count, size);

    place(sampler.align_corners, coordinate, count, size);
    if (sampler.outside == GridSampler::Outside::Reflection)
      reflect(sampler.align_corners, count, size);
    if (sampler.outside != GridSampler::Outside::Zeros) clip(count, size);
    sampler.mode == GridSampler::Mode::Nearest ? take_nearest(count, size) : take_two(count, size);
  }

 private:
  // The coordinates in elements, and their derivatives by those of the grid.
  T at_[kTile];
  T steepness_[kTile];

  void fill_cubic(const GridSampler& sampler, const T* coordinate, int64_t count, int64_t size) {
    for (int64_t p = 0; p < count; ++p) {
      const GridTaps<T> taps = grid_taps(sampler, coordinate[p], size);
      for (int t = 0; t < 4; ++t) {
        index[t][p] = static_cast<int32_t>(taps.index[t]);
        weight[t][p] = taps.weight[t];
        slope[t][p] = taps.slope[t];
      }
    }
  }

  void place(bool align_corners, const T* coordinate, int64_t count, int64_t size) {
    const T extent = static_cast<T>(align_corners ? size - 1 : size);
    for (int64_t p = 0; p < count; ++p) {
      const T from_one = coordinate[p] + 1;
      at_[p] = align_corners ? from_one / 2 * extent : (from_one * extent - 1) / 2;
      steepness_[p] = extent / 2;
    }
  }

  void reflect(bool align_corners, int64_t count, int64_t size) {
    const T low = align_corners ? T(0) : T(-0.5);
    const T span = static_cast<T>(align_corners ? size - 1 : size);
    const T inverse = span == 0 ? T(0) : 1 / span;
    for (int64_t p = 0; p < count; ++p) {
      const T distance = vec::abs(at_[p] - low);
      const T spans = vec::floor(distance * inverse);
      const T rest = distance - spans * span;

      // After an odd number of whole spans the coordinate runs backwards.
      const bool back = spans - 2 * vec::floor(spans / 2) != 0;
      const bool turned = back != (at_[p] < low);
      at_[p] = (back ? span - rest : rest) + low;
      steepness_[p] = span == 0 ? T(0) : turned ? -steepness_[p] : steepness_[p];
    }
  }

  void clip(int64_t count, int64_t size) {
    const T last = static_cast<T>(size - 1);
    for (int64_t p = 0; p < count; ++p) {
      const bool below = !(at_[p] > 0);
      const bool above = at_[p] >= last;
      at_[p] = below ? T(0) : above ? last : at_[p];
      steepness_[p] = below | above ? T(0) : steepness_[p];
    }
  }

  void take_nearest(int64_t count, int64_t size) {
    const auto end = static_cast<int32_t>(size);
    for (int64_t p = 0; p < count; ++p) {
      const auto near = static_cast<int32_t>(vec::round(grid_detail::tame(at_[p])));
      index[0][p] = (near >= 0) & (near < end) ? near : -1;
      weight[0][p] = 1;
      slope[0][p] = 0;
    }
  }

  void take_two(int64_t count, int64_t size) {
    const auto end = static_cast<int32_t>(size);
#pragma GCC ivdep
    for (int64_t p = 0; p < count; ++p) {
      const T tamed = grid_detail::tame(at_[p]);
      const T low = vec::floor(tamed);
      const T part = tamed - low;

      const auto near = static_cast<int32_t>(low);
      const int32_t far = near + 1;
      index[0][p] = (near >= 0) & (near < end) ? near : -1;
      index[1][p] = (far >= 0) & (far < end) ? far : -1;
      weight[0][p] = 1 - part;
      weight[1][p] = part;
      slope[0][p] = -steepness_[p];
      slope[1][p] = steepness_[p];
    }
  }
};

/// The elements that the points of a tile read, as [tap][point]. Place -1 is outside.
template <typename T>
struct GridTile {
  int64_t first, count;
  int taps = 1;
  int32_t place[kMostTaps][kTile];
  T weight[kMostTaps][kTile];
  T slope[3][kMostTaps][kTile];  // of the weight, by the grid's coordinates x, y and z

  /// Computes the taps of a tile; `grid` has the coordinates of one sample, (points, rank).
  void fill(const GridSizes& s, const T* grid, int64_t tile, bool slopes) {
    first = tile * kTile;
    count = std::min(kTile, s.points - first);

    GridAxisTile<T> axes[3];
    int counts[3] = {1, 1, 1};
    for (int64_t d = 0; d < s.rank; ++d) {
      const int64_t axis = 2 - d;  // x is the last dimension
      T coordinate[kTile];
      for (int64_t p = 0; p < count; ++p) coordinate[p] = grid[(first + p) * s.rank + d];
      axes[axis].fill(s.sampler, coordinate, count, s.size[axis]);
      counts[axis] = s.sampler.taps();
    }

    // A missing dimension has one element.
    for (int64_t axis = 0; axis < 3 - s.rank; ++axis) {
      std::fill_n(axes[axis].index[0], kTile, 0);
      std::fill_n(axes[axis].weight[0], kTile, T(1));
      std::fill_n(axes[axis].slope[0], kTile, T(0));
    }

    // The rest of the tile is outside.
    taps = counts[0] * counts[1] * counts[2];
    for (int t = 0; t < taps && count < kTile; ++t)
      std::fill_n(place[t] + count, kTile - count, -1);

    taps = 0;
    for (int i = 0; i < counts[0]; ++i) {
      for (int j = 0; j < counts[1]; ++j) {
        for (int k = 0; k < counts[2]; ++k) combine(s, axes, i, j, k, slopes);
      }
    }
  }

 private:
  /// Adds the taps i, j and k of the three dimensions: their places and products of weights.
  void combine(const GridSizes& s, const GridAxisTile<T> (&axes)[3], int i, int j, int k,
               bool slopes) {
    const int t = taps++;
    set_places(s, axes[0].index[i], axes[1].index[j], axes[2].index[k], place[t]);

    const T* wz = axes[0].weight[i];
    const T* wy = axes[1].weight[j];
    const T* wx = axes[2].weight[k];
    set_products(wz, wy, wx, weight[t]);
    if (!slopes) return;

    set_products(wz, wy, axes[2].slope[k], slope[0][t]);
    set_products(wz, axes[1].slope[j], wx, slope[1][t]);
    set_products(axes[0].slope[i], wy, wx, slope[2][t]);
  }

  void set_places(const GridSizes& s, const int32_t* z, const int32_t* y, const int32_t* x,
                  int32_t* places) {
    const auto rows = static_cast<int32_t>(s.size[1]);
    const auto columns = static_cast<int32_t>(s.size[2]);
    const int64_t n = count;
#pragma GCC ivdep
    for (int64_t p = 0; p < n; ++p)
      places[p] = (z[p] | y[p] | x[p]) < 0 ? -1 : (z[p] * rows + y[p]) * columns + x[p];
  }

  void set_products(const T* a, const T* b, const T* c, T* products) {
    const int64_t n = count;
#pragma GCC ivdep
    for (int64_t p = 0; p < n; ++p) products[p] = a[p] * b[p] * c[p];
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
