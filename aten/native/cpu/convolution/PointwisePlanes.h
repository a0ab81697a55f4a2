#pragma once
// Pointwise convolutions with channels first, in float and double. Included by files compiled once
// per instruction set.
#include <algorithm>

#include "aten/native/cpu/convolution/WeightSource.h"
#include "aten/native/cpu/shared/Tasks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace tile = blas::tile::CPU_CAPABILITY;

// Note [Pointwise convolutions of planes]
// With channels first, a pointwise convolution is a product of matrices (outputs, channels) and
// (channels, positions), of which a task takes a chunk of positions. A matrix product would pack
// panels of positions one by one, from as many distant lines as there are channels, and wait for
// each. Here the lines of a chunk are read one after another into all its panels.

template <class T>
class PointwisePlanes {
 public:
  /// The weights are (outputs, channels of a group); in a gradient, the sources are the outputs.
  PointwisePlanes(const ConvolutionGeometry& g, const WeightSource<T>& weights, bool gradient)
      : samples_(g.batch),
        groups_(g.groups),
        positions_(g.input_plane()),
        sources_(gradient ? g.group_outputs() : g.group_channels()),
        results_(gradient ? g.group_channels() : g.group_outputs()),
        tiles_((results_ + E::kRows - 1) / E::kRows),
        rows_(weights.template packed<T>(Packer::ConvolutionRows, gradient,
                                         groups_ * results_ * sources_ + tile::kWidth<T>,
                                         [&](T* to) { pack_rows(weights.rows(), gradient, to); })) {
  }

  /// out = in * weights + bias, which may be null.
  void run(const T* in, const T* bias, T* out) const {
    // Chunks depend on sizes only.
    const int64_t most = std::max<int64_t>(4 * kLanes, kElements / std::max(sources_, results_));
    const int64_t chunks = (positions_ + most - 1) / most;
    const int64_t panels = (positions_ + kLanes - 1) / kLanes;
    const int64_t work = std::max<int64_t>(1, most * sources_ * results_);

    parallel_for(0, samples_ * groups_ * chunks, std::max<int64_t>(1, (int64_t{1} << 18) / work),
                 [&](int64_t begin, int64_t end) {
                   const int64_t width = (panels + chunks - 1) / chunks * kLanes;
                   const Scratch<T> lanes(width * sources_);
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t plane = i / chunks;  // of a sample and a group
                     const int64_t first = i % chunks * panels / chunks * kLanes;
                     const int64_t last = (i % chunks + 1) * panels / chunks * kLanes;
                     const int64_t count = std::min(last, positions_) - first;
                     const int64_t group = plane % groups_;
                     pack_lanes(in + plane * sources_ * positions_ + first, count, lanes.data());
                     multiply(lanes.data(), count, group,
                              bias == nullptr ? nullptr : bias + group * results_,
                              out + plane * results_ * positions_ + first);
                   }
                 });
  }

 private:
  using E = tile::Floats<T>;
  static constexpr int64_t kLanes = tile::kTileVectors * tile::kWidth<T>;
  static constexpr int64_t kElements = int64_t{1} << 17;  // of the lanes and results of a chunk

  int64_t first_row(int64_t tile) const { return tile * results_ / tiles_; }

  /// Tiles of rows, each for all sources.
  void pack_rows(const T* weights, bool gradient, T* to) const {
    const int64_t channels = gradient ? results_ : sources_;
    for (int64_t group = 0; group < groups_; ++group) {
      const T* const from = weights + group * sources_ * results_;
      for (int64_t i = 0; i < tiles_; ++i) {
        const int64_t row = first_row(i);
        const int64_t height = first_row(i + 1) - row;
        if (gradient) E::pack_rows({from + row, 1, channels}, height, sources_, to);
        else E::pack_rows({from + row * channels, channels, 1}, height, sources_, to);
        to += height * sources_;
      }
    }
  }

  /// The lines of the sources, each into all panels.
  void pack_lanes(const T* in, int64_t count, T* to) const {
    const int64_t panel = kLanes * sources_;
    for (int64_t source = 0; source < sources_; ++source, in += positions_, to += kLanes) {
      T* out = to;
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes, out += panel) {
#pragma GCC unroll 2
        for (int v = 0; v < tile::kTileVectors; ++v)
          tile::store(out + v * tile::kWidth<T>, tile::load(in + i + v * tile::kWidth<T>));
      }
      for (int64_t l = i; l < count; ++l) out[l - i] = in[l];
      if (i < count) std::fill_n(out + count - i, kLanes - (count - i), T(0));
    }
  }

  void multiply(const T* lanes, int64_t count, int64_t group, const T* bias, T* out) const {
    const T* const weights = static_cast<const T*>(rows_.data()) + group * results_ * sources_;
    for (int64_t first = 0; first < count; first += kLanes, lanes += kLanes * sources_) {
      const int64_t width = std::min(kLanes, count - first);
      for (int64_t i = 0; i < tiles_; ++i) {
        const int64_t row = first_row(i);
        const int64_t height = first_row(i + 1) - row;
        T* const to = out + row * positions_ + first;
        for (int64_t r = 0; bias != nullptr && r < height; ++r)
          std::fill_n(to + r * positions_, width, bias[row + r]);

        E::multiply(sources_, {lanes, kLanes, width, true}, height, weights + row * sources_,
                    height * static_cast<int64_t>(sizeof(T)), tile::RowOrder::Packed,
                    {to, positions_, T(1), T(bias == nullptr ? 0 : 1)});
      }
    }
  }

  int64_t samples_, groups_;
  int64_t positions_;
  int64_t sources_, results_;  // of a group
  int64_t tiles_;              // of results
  Tensor rows_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
