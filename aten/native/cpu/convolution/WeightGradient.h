#pragma once
// Gradients of a convolution's weight by register tiles: elements of windows times outputs.
// Included by files compiled once per instruction set.
#include <array>
#include <vector>

#include "aten/native/cpu/convolution/Forward.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Weight gradients]
// The gradient is a sum over positions of products of the window's elements and of the outputs'
// gradients. A tile has 32 outputs as its lanes and elements of a window as its rows, which are
// adjacent in the staged source, and the positions as its depth. Blocks are summed in order within
// a slice, and then the slices, of which there are as many as the sizes say, so that bits do not
// depend on threads.

/// Where a line of positions lies in the staged source and in the staged gradient.
struct PositionLine {
  int64_t source, grad;
};

struct PositionLines {
  std::vector<PositionLine> lines;
  int64_t length;
  int64_t source_step, grad_step;
};

template <class T, int V, int R>
void gradient_tile(const PositionLines& positions, const T* source, const T* grads, T* out,
                   int64_t out_step, bool adds) {
  constexpr int W = tile::kWidth<T>;
  const auto step_bytes = positions.source_step * static_cast<int64_t>(sizeof(T));
  tile::Vector<T> sum[R][V] = {};

  for (const PositionLine& line : positions.lines) {
    const tile::Lanes<T> lanes{grads + line.grad, positions.grad_step, V * W, true};
    const tile::Rows<T, R, tile::RowOrder::Packed> row(source + line.source, step_bytes);
    tile::accumulate<T, T, V, R, tile::RowOrder::Packed>(sum, positions.length, lanes, row,
                                                         tile::Whole<T>{});
  }

  const tile::Target<T> to{out, out_step, T(1), T(adds ? 1 : 0)};
  const tile::Prefix<T> whole(W);
  if (adds) tile::finish<true, T, V, R>(sum, to, whole);
  else tile::finish<false, T, V, R>(sum, to, whole);
}

template <class T>
using GradientTile = void (*)(const PositionLines&, const T*, const T*, T*, int64_t, bool);

template <class T, int V, int... R>
constexpr std::array<GradientTile<T>, sizeof...(R)>
gradient_tiles(std::integer_sequence<int, R...>) {
  return {&gradient_tile<T, V, R + 1>...};
}

/// The elements of a window are the rows, in runs that are adjacent.
template <class E>
struct WindowGradients {
  using T = typename E::Packed;
  static constexpr int64_t kLanes = tile::kTileVectors * tile::kWidth<T>;
  static constexpr int64_t kReads = 1;
  static constexpr bool kJoins = true;

  /// out (elements of the run, kLanes) = or += the products of one run of elements.
  static void multiply(const PositionLines& positions, const T* source, int64_t length, int64_t,
                       const T* grads, int64_t outputs, T* out, bool adds) {
    constexpr std::make_integer_sequence<int, tile::kTileRows> all;
    static constexpr auto narrow = gradient_tiles<T, 1>(all);
    static constexpr auto whole = gradient_tiles<T, tile::kTileVectors>(all);
    const auto& functions = outputs <= tile::kWidth<T> ? narrow : whole;

    const int64_t tiles = (length + tile::kTileRows - 1) / tile::kTileRows;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t first = i * length / tiles;
      const int64_t rows = (i + 1) * length / tiles - first;
      functions[static_cast<size_t>(rows - 1)](positions, source + first, grads,
                                               out + first * kLanes, kLanes, adds);
    }
  }
};

/// The gradient of the weight of one walk, by the products of M.
template <class E, class M>
class WeightGradient {
 public:
  using Stored = typename E::Stored;
  using T = typename E::Packed;

  /// `from` and `to` are the layouts of the source and of the result's gradient. Each tap has
  /// `elements` rows of sums.
  WeightGradient(const Walk& walk, const Spread* spread, int64_t elements, const Layout& from,
                 const Layout& to)
      : walk_(walk),
        spread_(spread),
        from_(from),
        to_(to),
        blocks_(walk),
        panels_((walk.outputs + kLanes - 1) / kLanes),
        row_(walk.kernel_elements() * elements) {}

  /// The elements of a window.
  int64_t row() const { return row_; }

  /// Calls write(group, first output in the group, count, sums), where sums(element, lane) is a
  /// vector of `lanes` sums.
  template <class Write>
  void run(const Stored* in, const Stored* grad, const Write& write) const {
    const int64_t panel = row_ * kLanes;
    const int64_t all = panel * panels_ * walk_.groups;
    const int64_t most = std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(1, all), 1, 16);
    const int64_t per_slice = (blocks_.number() + most - 1) / most;
    const int64_t slices = per_slice == 0 ? 0 : (blocks_.number() + per_slice - 1) / per_slice;
    const Scratch<T> sums(slices * all);

    // Panels are split only if threads would have nothing to do: each part stages the source anew.
    const int64_t units = slices * walk_.groups;
    const int64_t wanted =
        in_parallel_region() ? 1 : 2 * get_num_threads() / std::max<int64_t>(1, units);
    const int64_t splits = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, panels_));
    const int64_t work = std::max<int64_t>(1, per_slice * blocks_.largest() * row_ * walk_.outputs);
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) * splits / work);

    parallel_for(0, units * splits, grain, [&](int64_t begin, int64_t end) {
      Task task(*this);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % splits;
        const int64_t group = i / splits % walk_.groups;
        const int64_t slice = i / splits / walk_.groups;
        const int64_t last = std::min(blocks_.number(), (slice + 1) * per_slice);
        for (int64_t block = slice * per_slice; block < last; ++block)
          task.run(in, grad, blocks_[block], group, part * panels_ / splits,
                   (part + 1) * panels_ / splits,
                   sums.data() + slice * all + group * panels_ * panel, block > slice * per_slice);
      }
    });

    parallel_for(0, walk_.groups * panels_,
                 std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, panel)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const T* const first = sums.data() + i * panel;
                     const auto read = [&](int64_t element, int64_t lane) {
                       tile::Vector<T> total = {};
                       for (int64_t slice = 0; slice < slices; ++slice)
                         total += tile::load(first + slice * all + element * kLanes + lane);
                       return total;
                     };
                     const int64_t output = i % panels_ * kLanes;
                     const int64_t channel = i / panels_ * walk_.outputs + output;
                     write(channel,
                           std::min({kLanes, walk_.outputs - output, to_.channels - channel}),
                           read);
                   }
                 });
  }

 private:
  static constexpr int64_t kLanes = M::kLanes;

  class Task {
   public:
    explicit Task(const WeightGradient& of)
        : of_(of),
          source_(of.walk_, of.from_, of.spread_, M::kReads),
          staged_(source_.elements(of.blocks_)),
          grads_(of.blocks_.largest() * kLanes) {
      std::fill_n(grads_.data(), of.blocks_.largest() * kLanes, T(0));
    }

    void run(const Stored* in, const Stored* grad, const Block& block, int64_t group,
             int64_t first_panel, int64_t end_panel, T* sums, bool adds) {
      const Walk& walk = of_.walk_;
      source_.set(in, block, group, staged_.data());
      set_lines(block);
      for (int64_t panel = first_panel; panel < end_panel; ++panel) {
        const int64_t first = panel * kLanes;
        const int64_t channel = group * walk.outputs + first;
        const int64_t count = std::min({kLanes, walk.outputs - first, of_.to_.channels - channel});
        stage_grads(grad + channel * of_.to_.channel, block, count);
        run_taps(count, sums + panel * of_.row_ * kLanes, adds);
      }
    }

   private:
    /// The longest axis of the block is the depth of accumulation.
    void set_lines(const Block& block) {
      int depth = kAxes - 1;
      for (int d = kAxes - 2; d >= 0; --d) {
        if (block.count[d] > block.count[depth]) depth = d;
      }

      int64_t step[kAxes];  // of the staged gradient
      step[3] = kLanes;
      for (int d = kAxes - 1; d > 0; --d) step[d - 1] = step[d] * block.count[d];
      positions_.length = block.count[depth];
      positions_.source_step = source_.position[depth];
      positions_.grad_step = step[depth];

      positions_.lines.clear();
      int64_t count[kAxes];
      std::copy_n(block.count, kAxes, count);
      count[depth] = 1;
      for (int64_t i = 0; i < count[0] * count[1] * count[2] * count[3]; ++i) {
        PositionLine line = {0, 0};
        int64_t rest = i;
        for (int d = kAxes - 1; d >= 0; --d) {
          line.source += rest % count[d] * source_.position[d];
          line.grad += rest % count[d] * step[d];
          rest /= count[d];
        }
        positions_.lines.push_back(line);
      }
    }

    void stage_grads(const Stored* grad, const Block& block, int64_t count) {
      const Walk& walk = of_.walk_;
      const Layout& layout = of_.to_;
      for (int d = 0; d < kAxes; ++d) grad += block.first[d] * layout.step[d];

      const AdjacentPositions adjacent(walk, block);
      T* to = grads_.data();
      adjacent.for_each(walk, layout, [&](int64_t place) {
        if (layout.channels_last())
          Stage<E>::copy_pixels(grad + place, layout.step[3], adjacent.length, count, to, kLanes);
        else
          Stage<E>::transpose_pixels(grad + place, layout.channel, adjacent.length, count, to,
                                     kLanes);
        to += adjacent.length * kLanes;
      });
    }

    void run_taps(int64_t outputs, T* sums, bool adds) const {
      const Walk& walk = of_.walk_;
      const int64_t place = source_.packed_channels();
      const bool joined = M::kJoins && source_.tap[3] == place;
      const int64_t width = joined ? 1 : walk.kernel[2];
      const int64_t length = joined ? walk.kernel[2] * place : place;
      const int64_t rows = of_.row_ / (walk.kernel_elements() / walk.kernel[2] * width);

      for (int64_t a = 0; a < walk.kernel[0]; ++a) {
        for (int64_t b = 0; b < walk.kernel[1]; ++b) {
          for (int64_t c = 0; c < width; ++c, sums += rows * kLanes) {
            const int64_t at = a * source_.tap[1] + b * source_.tap[2] + c * source_.tap[3];
            M::multiply(positions_, source_.data + at, length, rows, grads_.data(), outputs, sums,
                        adds);
          }
        }
      }
    }

    const WeightGradient& of_;
    StagedSource<E> source_;
    Scratch<T> staged_;
    Scratch<T> grads_;
    PositionLines positions_;
  };

  const Walk& walk_;
  const Spread* spread_;
  const Layout& from_;
  const Layout& to_;
  Blocks blocks_;
  int64_t panels_;
  int64_t row_;
};

/// Writes the elements of one weight after another: out[lane * row + element].
template <class T, class Read>
void write_rows(int64_t row, int64_t count, const Read& sums, T* out) {
  const auto read = [&](int64_t element, int64_t lane, int64_t) { return sums(element, lane); };
  const auto write = [&](int64_t lane, int64_t element, int64_t n, tile::Vector<T> value) {
    store_some(out + lane * row + element, value, n);
  };
  transpose_lines<T>(row, count, read, write);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
