#pragma once
// Convolutions by register tiles: positions times outputs. Included by files compiled once per
// instruction set.
#include <array>
#include <vector>

#include "aten/native/cpu/convolution/PanelWeights.h"
#include "aten/native/cpu/convolution/Results.h"
#include "aten/native/cpu/convolution/StagedSource.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Tiles of a convolution]
// A tile has a few positions in one axis as its rows and up to 32 outputs as its lanes. Rows are
// windows, which it reads in place: for each tap, or for each line of taps that are adjacent in the
// staged source, a run of elements. Weights are packed in panels [outputs /
// 32][taps][channels][32]. Each element of the result is one chain of multiply-adds, which begins
// with the bias, so its bits depend neither on blocks nor on threads.

/// What a tile reads at each of its rows.
struct Run {
  int64_t source;  // its place from the row's first element
  int64_t weight;  // in the panel
};

/// Where lanes find their channels, see Note [Groups as lanes].
struct LaneOrder;

struct Window {
  std::vector<Run> runs;
  int64_t length = 0;                // of each run
  int64_t next_line = 0;             // the distance of lines of positions
  const LaneOrder* order = nullptr;  // null if lanes are read as they are
};

template <class T, class Sum, int V, int R>
void window_tile(const Window& window, const T* rows, int64_t row_step, const T* weights,
                 const Sum* bias, Sum* out, int64_t out_step, int64_t outputs) {
  constexpr int W = tile::kWidth<T>;
  tile::Vector<Sum> sum[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[r][v] = tile::load(bias + v * W);
  }

  const auto row_bytes = row_step * static_cast<int64_t>(sizeof(T));
  for (const Run& run : window.runs) {
    const tile::Lanes<T> lanes{weights + run.weight, tile::kTileVectors * W, V * W, true};
    const tile::Rows<T, R, tile::RowOrder::Lines> row(rows + run.source, row_bytes);
    tile::accumulate<T, Sum, V, R, tile::RowOrder::Lines>(sum, window.length, lanes, row,
                                                          tile::Whole<T>{});
  }

  const tile::Target<Sum> to{out, out_step, Sum(1), Sum(0)};
  tile::finish<false, Sum, V, R>(sum, to, tile::Prefix<Sum>(outputs - (V - 1) * W));
}

template <class T, class Sum>
using WindowTile = void (*)(const Window&, const T*, int64_t, const T*, const Sum*, Sum*, int64_t,
                            int64_t);

template <class T, class Sum, int V, int... R>
constexpr std::array<WindowTile<T, Sum>, sizeof...(R)>
window_tiles(std::integer_sequence<int, R...>) {
  return {&window_tile<T, Sum, V, R + 1>...};
}

/// The tile for `rows` positions and up to 32 outputs.
template <class T, class Sum>
WindowTile<T, Sum> window_tile_for(int64_t rows, int64_t outputs) {
  constexpr std::make_integer_sequence<int, tile::kTileRows> all;
  static constexpr auto narrow = window_tiles<T, Sum, 1>(all);
  static constexpr auto whole = window_tiles<T, Sum, tile::kTileVectors>(all);
  return (outputs <= tile::kWidth<T> ? narrow : whole)[static_cast<size_t>(rows - 1)];
}

/// The tiles of Note [Tiles of a convolution].
template <class E>
struct WindowTiles {
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  using Weights = PanelWeights<E>;
  static constexpr int64_t kLanes = Weights::kLanes;
  static constexpr int64_t kRows = tile::kTileRows;
  static constexpr int64_t kReads = 1;
  static constexpr bool kJoins = true;  // taps that are adjacent in memory

  static WindowTile<Packed, Sum> tile_for(int64_t rows, int64_t outputs) {
    return window_tile_for<Packed, Sum>(rows, outputs);
  }
};

// Note [Regions]
// At its borders, a window reads fewer elements of the source. A block is cut into regions of
// positions that read the same taps, in each axis with few positions at its borders. Tiles then
// multiply no zeros, which are a fifth of all elements for windows of 3 x 3 in 7 x 7 pixels, and
// read a source with channels last in place.

/// A part of a block.
struct Region {
  int64_t first[kAxes];  // from that of the block
  int64_t count[kAxes];
  int rows;  // the axis whose positions fill the rows of tiles best; the others are visited
  Window window;
};

/// One walk with packed weights, by the tiles of M.
template <class E, class M>
class TiledWalk {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;

  TiledWalk(const Walk& walk, const typename M::Weights& weights, const Layout& from,
            const Layout& to)
      : walk_(walk), weights_(weights), from_(from), to_(to), blocks_(walk) {
    direct_ = std::is_same_v<Stored, Sum> && to.channels_last();
    for (size_t d = 0; d < kAxes; ++d) clipped_[d] = Borders(walk.axes[d]).are_narrow();
  }

  /// out = in * weights + bias, which may be null.
  void run(const Stored* in, const Stored* bias, Stored* out) const {
    const int64_t units = blocks_.number() * walk_.groups;
    const int64_t work =
        blocks_.largest() * walk_.taps() * walk_.channels * std::max<int64_t>(1, walk_.outputs);
    const int64_t splits = panel_groups(units, work);

    parallel_for(0, units * splits,
                 std::max<int64_t>(1, (int64_t{1} << 18) * splits / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   Task task(*this);
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t part = i % splits;
                     task.run(in, bias, out, blocks_[i / splits / walk_.groups],
                              i / splits % walk_.groups, part * weights_.panels() / splits,
                              (part + 1) * weights_.panels() / splits);
                   }
                 });
  }

 private:
  static constexpr int64_t kLanes = M::kLanes;

  /// Into how many tasks to split the outputs of a block, so that all threads get some.
  int64_t panel_groups(int64_t units, int64_t work) const {
    if (in_parallel_region() || work < (int64_t{1} << 18)) return 1;
    const int64_t wanted = 2 * get_num_threads() / std::max<int64_t>(1, units);
    return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, weights_.panels()));
  }

  /// What one thread needs.
  class Task {
   public:
    explicit Task(const TiledWalk& of)
        : of_(of),
          source_(of.walk_, of.from_, of.weights_.spread(), M::kReads, of.clipped_),
          staged_(source_.elements(of.blocks_)),
          sums_(of.direct_ ? 0 : of.blocks_.largest() * kLanes) {}

    void run(const Stored* in, const Stored* bias, Stored* out, const Block& block, int64_t group,
             int64_t first_panel, int64_t end_panel) {
      const Walk& walk = of_.walk_;
      source_.set(in, block, group, reinterpret_cast<Packed*>(staged_.data()));
      set_regions(block);

      for (int64_t panel = first_panel; panel < end_panel; ++panel) {
        const int64_t first = panel * kLanes;
        const int64_t channel = group * walk.outputs + first;
        count_ = std::min({kLanes, walk.outputs - first, of_.to_.channels - channel});
        std::fill_n(bias_, kLanes, Sum(0));
        for (int64_t i = 0; bias != nullptr && i < count_; ++i)
          bias_[i] = static_cast<Sum>(bias[channel + i]);

        panel_ = of_.weights_.panel(group, panel);
        Stored* to = out + channel * of_.to_.channel;
        for (int d = 0; d < kAxes; ++d)
          to += (walk.axes[d].first + block.first[d] * walk.axes[d].step) * of_.to_.step[d];
        run_panel(block, to);
      }
    }

   private:
    /// See Note [Regions].
    void set_regions(const Block& block) {
      for (size_t d = 0; d < kAxes; ++d) {
        const Axis& axis = of_.walk_.axes[d];
        if (of_.clipped_[d]) Borders(axis).find_ranges(block.first[d], block.count[d], ranges_[d]);
        else ranges_[d].assign(1, {0, block.count[d], 0, axis.taps});
      }

      regions_.clear();
      for (const AxisRange& n : ranges_[0]) {
        for (const AxisRange& z : ranges_[1]) {
          for (const AxisRange& y : ranges_[2]) {
            for (const AxisRange& x : ranges_[3]) {
              regions_.push_back({{n.first, z.first, y.first, x.first},
                                  {n.count, z.count, y.count, x.count},
                                  0,
                                  window_of(z, y, x)});
              set_rows(regions_.back());
            }
          }
        }
      }
    }

    Window window_of(const AxisRange& z, const AxisRange& y, const AxisRange& x) const {
      const Walk& walk = of_.walk_;
      const Axis& line = walk.axes[3];
      const int64_t tap = of_.weights_.tap();
      const int64_t packed = source_.packed_channels();
      const bool joined = M::kJoins && source_.tap[3] == packed && line.element_step == 1;
      const int64_t width = joined ? std::min<int64_t>(1, x.taps) : x.taps;

      Window window;
      window.length = joined ? x.taps * packed : packed;
      window.next_line = source_.position[2];
      window.order = of_.weights_.order();
      for (int64_t a = z.tap; a < z.tap + z.taps; ++a) {
        for (int64_t b = y.tap; b < y.tap + y.taps; ++b) {
          for (int64_t c = x.tap; c < x.tap + width; ++c) {
            const int64_t element =
                (walk.axes[1].element(a) * walk.kernel[1] + walk.axes[2].element(b)) *
                    walk.kernel[2] +
                line.element(c);
            window.runs.push_back(
                {a * source_.tap[1] + b * source_.tap[2] + c * source_.tap[3], element * tap});
          }
        }
      }
      return window;
    }

    static void set_rows(Region& region) {
      const int64_t* const counts = region.count;
      const int64_t positions = counts[0] * counts[1] * counts[2] * counts[3];
      int64_t least = 0;
      for (int d = kAxes - 1; d >= 0; --d) {
        const int64_t count = std::max<int64_t>(1, counts[d]);
        const int64_t tiles = (count + M::kRows - 1) / M::kRows;
        const int64_t total = positions / count * tiles;
        if (d < kAxes - 1 && total >= least) continue;
        least = total;
        region.rows = d;
      }
    }

    void run_panel(const Block& block, Stored* out) {
      int64_t out_step[kAxes];  // in the result, or in sums_
      int64_t step = kLanes;
      for (int d = kAxes - 1; d >= 0; --d) {
        out_step[d] = of_.direct_ ? of_.walk_.axes[d].step * of_.to_.step[d] : step;
        step *= block.count[d];
      }

      Sum* to = sums_.data();
      if constexpr (std::is_same_v<Stored, Sum>) {
        if (of_.direct_) to = out;
      }
      for (const Region& region : regions_) run_region(region, out_step, to);
      if (!of_.direct_) store(block, out);
    }

    void run_region(const Region& region, const int64_t* out_step, Sum* to) const {
      int64_t outer[kAxes];
      std::copy_n(region.count, kAxes, outer);
      outer[region.rows] = 1;

      for (int64_t n = 0; n < outer[0]; ++n) {
        for (int64_t z = 0; z < outer[1]; ++z) {
          for (int64_t y = 0; y < outer[2]; ++y) {
            for (int64_t x = 0; x < outer[3]; ++x) {
              const int64_t at[] = {n, z, y, x};
              const Packed* from = source_.data;
              Sum* target = to;

              for (int d = 0; d < kAxes; ++d) {
                from += (region.first[d] + at[d]) * source_.position[d];
                target += (region.first[d] + at[d]) * out_step[d];
              }
              run_row(region, from, target, out_step[region.rows]);
            }
          }
        }
      }
    }

    /// Positions of one axis, in tiles of about the same size.
    void run_row(const Region& region, const Packed* from, Sum* to, int64_t step) const {
      const int64_t count = region.count[region.rows];
      const int64_t distance = source_.position[region.rows];
      const int64_t tiles = (count + M::kRows - 1) / M::kRows;
      const int64_t height = tiles == 0 ? 0 : count / tiles;
      const int64_t higher = count - height * tiles;
      for (int64_t i = 0; i < tiles; ++i) {
        const int64_t rows = height + (i < higher);
        const auto multiply = M::tile_for(rows, count_);
        multiply(region.window, from, distance, panel_, bias_, to, step, count_);
        from += rows * distance;
        to += rows * step;
      }
    }

    /// Stores the sums of a block, in runs of positions that are adjacent in the result.
    void store(const Block& block, Stored* out) const {
      const AdjacentPositions adjacent(of_.walk_, block);
      const int64_t length = adjacent.length;
      const Sum* from = sums_.data();
      adjacent.for_each(of_.walk_, of_.to_, [&](int64_t place) {
        store_positions(from, kLanes, length, count_, out + place,
                        of_.walk_.axes[3].step * of_.to_.step[3], of_.to_.channel);
        from += length * kLanes;
      });
    }

    const TiledWalk& of_;
    StagedSource<E> source_;
    Scratch<std::conditional_t<sizeof(Packed) == 8, double, float>> staged_;
    Scratch<Sum> sums_;
    std::vector<AxisRange> ranges_[kAxes];
    std::vector<Region> regions_;
    int64_t count_ = 0;  // of outputs in the panel
    const Packed* panel_ = nullptr;
    Sum bias_[kLanes];
  };

  const Walk& walk_;
  const typename M::Weights& weights_;
  const Layout& from_;
  const Layout& to_;
  Blocks blocks_;
  std::array<bool, kAxes> clipped_;
  bool direct_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
