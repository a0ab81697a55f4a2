#pragma once
// Convolutions with channels first and few channels or outputs in each group:
// the lanes of vectors are positions. Included by files compiled once per
// instruction set.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "aten/native/cpu/convolution/Results.h"
#include "aten/native/cpu/shared/Tasks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Positions as lanes]
// With channels first, positions of a channel are adjacent, and vectors of them
// need no transposition. The lines of the source that a band of the result
// reads are copied with zeros around them, one plane per channel. A vector from
// any place of a plane then has what as many adjacent positions read by one
// tap, and is multiplied by one weight for each output. Positions go on from
// one line to the next, over the border, where results are not stored, so that
// short lines fill vectors, too. The order of additions is that of Note [Tiles
// of a convolution].

/// The outputs of a tile.
constexpr int kPlaneOutputs = tile::kVectorBytes == 64 ? 4 : 2;

/// The most positions of a line; longer ones are cut into parts.
constexpr int64_t kPlaneLine = 2048;

/// The most vectors of a tile: their sums, one tap and a weight are in
/// registers.
constexpr int plane_vectors(int outputs) {
  constexpr int kRegisters = tile::kVectorBytes == 64 ? 32 : 16;
  return std::min(8, (kRegisters - 1) / (outputs + 1));
}

/// out[o][positions] = bias[o] + the sum over taps of source[offset +
/// positions] * weights[tap][o].
template <class T, int O, int V>
void plane_tile(const std::vector<int64_t>& offsets, const T* weights, const T* source,
                const T* bias, T* out, int64_t out_step) {
  constexpr int W = tile::kWidth<T>;
  tile::Vector<T> sum[O][V];
#pragma GCC unroll 4
  for (int o = 0; o < O; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[o][v] = tile::broadcast(bias[o]);
  }

  for (const int64_t offset : offsets) {
    tile::Vector<T> taps[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      taps[v] = tile::load(source + offset + v * W);
      if constexpr (O > 1) tile::keep_in_register(taps[v]);
    }

#pragma GCC unroll 4
    for (int o = 0; o < O; ++o) {
      tile::Vector<T> factor = tile::broadcast(weights[o]);
      tile::keep_in_register(factor);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[o][v] += factor * taps[v];
    }
    weights += O;
  }

#pragma GCC unroll 4
  for (int o = 0; o < O; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) tile::store(out + o * out_step + v * W, sum[o][v]);
  }
}

template <class T>
using PlaneTile = void (*)(const std::vector<int64_t>&, const T*, const T*, const T*, T*, int64_t);

template <class T, int O, int... V>
constexpr std::array<PlaneTile<T>, 8> plane_tiles_of(std::integer_sequence<int, V...>) {
  return {&plane_tile<T, O, V + 1>...};
}

template <class T, int... O>
constexpr std::array<std::array<PlaneTile<T>, 8>, sizeof...(O)>
plane_tiles(std::integer_sequence<int, O...>) {
  return {plane_tiles_of<T, O + 1>(std::make_integer_sequence<int, plane_vectors(O + 1)>{})...};
}

template <class T>
PlaneTile<T> plane_tile_for(int64_t outputs, int64_t vectors) {
  static constexpr auto all = plane_tiles<T>(std::make_integer_sequence<int, kPlaneOutputs>{});
  return all[static_cast<size_t>(outputs - 1)][static_cast<size_t>(vectors - 1)];
}

/// Whether a walk is computed so: lines are adjacent, and other tiles would leave lanes empty.
inline bool has_plane_lanes(const Walk& walk, const Layout& from, const Layout& to) {
  constexpr int64_t kNarrow = 8;
  constexpr int64_t kLeastPositions = 16;
  const Axis& line = walk.axes[3];
  const Axis& lines = walk.axes[2];
  if (line.stride != 1 || line.step != 1 || from.step[3] != 1 || to.step[3] != 1) return false;
  if (line.count * lines.count < kLeastPositions) return false;

  // Planes with wide borders would have more zeros than elements.
  const auto is_wide = [](const Axis& axis) {
    const int64_t count = std::min(axis.count, kPlaneLine);
    return (axis.taps - 1) * axis.dilation > count + kLeastPositions;
  };
  if (is_wide(line) || is_wide(lines)) return false;

  if (walk.groups > 1) return std::max(walk.channels, walk.outputs) <= kNarrow;
  return walk.channels <= 2 || walk.outputs <= 4;
}

template <class E>
class PlaneWalk {
 public:
  using Stored = typename E::Stored;
  using T = typename E::Packed;

  /// Weights are (outputs, kernel elements, channels of a group).
  PlaneWalk(const Walk& walk, const Layout& from, const Layout& to, const Stored* weights,
            bool gradient)
      : walk_(walk), from_(from), to_(to), weights_(weights), gradient_(gradient) {
    const Axis& y = walk.axes[2];
    const Axis& x = walk.axes[3];
    parts_ = (x.count + kPlaneLine - 1) / kPlaneLine;
    width_ = (x.count + parts_ - 1) / parts_;
    parts_ = (x.count + width_ - 1) / width_;
    pitch_ = width_ + (x.taps - 1) * x.dilation;

    // The planes of a band stay in the second-level cache.
    const int64_t planes = std::max<int64_t>(1, walk.axes[1].taps * walk.channels);
    const int64_t lines = kElements / (planes * pitch_) - (y.taps - 1) * y.dilation;
    band_ = std::clamp<int64_t>(lines / y.stride, 1, y.count);
    bands_ = (y.count + band_ - 1) / band_;
    height_ = (band_ - 1) * y.stride + (y.taps - 1) * y.dilation + 1;
    plane_ = height_ * pitch_;
    elements_ = planes * plane_ + kSlack;
  }

  /// out = in * weights + bias, which may be null.
  void run(const Stored* in, const Stored* bias, Stored* out) const {
    const int64_t depth = walk_.axes[1].count;
    const int64_t pieces = bands_ * parts_;  // of a plane
    const int64_t work =
        band_ * pitch_ * walk_.taps() * walk_.channels * std::max<int64_t>(1, walk_.outputs);

    parallel_for(0, walk_.axes[0].count * walk_.groups * depth * pieces,
                 std::max<int64_t>(1, (int64_t{1} << 17) / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   Task task(*this);
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t plane = i / pieces;
                     const int64_t group = plane / depth % walk_.groups;
                     task.set_place(plane % depth, i % pieces / parts_ * band_,
                                    i % parts_ * width_);
                     task.run(in, bias, out, plane / depth / walk_.groups, group);
                   }
                 });
  }

 private:
  static constexpr int64_t kElements = int64_t{1} << 15;
  static constexpr int64_t kSlack = 9 * tile::kWidth<T>;  // all reads and writes are whole vectors

  /// What one thread needs.
  class Task {
   public:
    explicit Task(const PlaneWalk& of)
        : of_(of),
          staged_(of.elements_),
          sums_(kPlaneOutputs * sums_step()),
          factors_(of.walk_.taps() * of.walk_.channels * kPlaneOutputs) {
      std::fill_n(staged_.data() + of.elements_ - kSlack, kSlack, T(0));
    }

    /// Switches to a coordinate of depth, the band from `line` on, and the part
    /// from `column` on.
    void set_place(int64_t depth, int64_t line, int64_t column) {
      depth_ = depth;
      line_ = line;
      column_ = column;
      lines_ = std::min(of_.band_, of_.walk_.axes[2].count - line);
      columns_ = std::min(of_.width_, of_.walk_.axes[3].count - column);
      set_taps();
    }

    void run(const Stored* in, const Stored* bias, Stored* out, int64_t sample, int64_t group) {
      const Walk& walk = of_.walk_;
      stage(in + sample * of_.from_.step[0] + group * walk.channels * of_.from_.channel);

      out += sample * of_.to_.step[0] + walk.axes[3].first + column_;
      for (int d = 1; d < 3; ++d) {
        const int64_t position = d == 1 ? depth_ : line_;
        out += (walk.axes[d].first + position * walk.axes[d].step) * of_.to_.step[d];
      }

      for (int64_t first = 0; first < walk.outputs; first += kPlaneOutputs) {
        const int64_t outputs = std::min<int64_t>(kPlaneOutputs, walk.outputs - first);
        const int64_t channel = group * walk.outputs + first;
        set_factors(group, first, outputs);
        T biases[kPlaneOutputs] = {};
        for (int64_t o = 0; bias != nullptr && o < outputs; ++o)
          biases[o] = static_cast<T>(bias[channel + o]);

        multiply(outputs, biases);
        for (int64_t o = 0; o < outputs; ++o)
          store(sums_.data() + o * sums_step(), out + (channel + o) * of_.to_.channel);
      }
    }

   private:
    int64_t sums_step() const { return of_.band_ * of_.pitch_ + kSlack; }

    /// The taps of depth that lie in the source, and where all taps find their
    /// elements.
    void set_taps() {
      const Walk& walk = of_.walk_;
      const Axis& depth = walk.axes[1];
      first_depth_ = depths_ = 0;
      for (int64_t a = 0; a < depth.taps; ++a) {
        if (source_depth(a) < 0 || source_depth(a) >= depth.source) continue;
        if (depths_++ == 0) first_depth_ = a;
      }

      offsets_.clear();
      for (int64_t a = 0; a < depths_; ++a) {
        for (int64_t b = 0; b < walk.axes[2].taps; ++b) {
          for (int64_t c = 0; c < walk.axes[3].taps; ++c) {
            for (int64_t channel = 0; channel < walk.channels; ++channel)
              offsets_.push_back((a * walk.channels + channel) * of_.plane_ +
                                 b * walk.axes[2].dilation * of_.pitch_ +
                                 c * walk.axes[3].dilation);
          }
        }
      }
    }

    int64_t source_depth(int64_t tap) const {
      const Axis& depth = of_.walk_.axes[1];
      return depth.origin + depth_ * depth.stride + tap * depth.dilation;
    }

    void stage(const Stored* in) {
      T* to = staged_.data();
      for (int64_t a = first_depth_; a < first_depth_ + depths_; ++a) {
        for (int64_t c = 0; c < of_.walk_.channels; ++c, to += of_.plane_)
          stage_plane(in + source_depth(a) * of_.from_.step[1] + c * of_.from_.channel, to);
      }
    }

    void stage_plane(const Stored* in, T* to) const {
      const Axis& y = of_.walk_.axes[2];
      const Axis& x = of_.walk_.axes[3];
      const int64_t pitch = of_.pitch_;
      const int64_t origin = x.origin + column_;
      const int64_t left = std::clamp<int64_t>(-origin, 0, pitch);
      const int64_t right = std::clamp<int64_t>(x.source - origin, left, pitch);
      const int64_t height = (lines_ - 1) * y.stride + (y.taps - 1) * y.dilation + 1;

      for (int64_t i = 0; i < height; ++i, to += pitch) {
        const int64_t line = y.origin + line_ * y.stride + i;
        if (line < 0 || line >= y.source) {
          std::fill_n(to, pitch, T(0));
          continue;
        }
        std::fill_n(to, left, T(0));
        copy_line(in + line * of_.from_.step[2] + origin + left, right - left, to + left);
        std::fill_n(to + right, pitch - right, T(0));
      }
    }

    /// Copies a line in whole vectors: what they write behind it is written
    /// later.
    static void copy_line(const Stored* from, int64_t count, T* to) {
      constexpr int W = tile::kWidth<T>;
      for (int64_t i = 0; i < count; i += W) {
        const int64_t n = std::min<int64_t>(W, count - i);
        tile::store(to + i, tile::load_converted<T>(from + i, n));
      }
    }

    /// The weights of some outputs, in the order of the offsets.
    void set_factors(int64_t group, int64_t first, int64_t outputs) {
      const Walk& walk = of_.walk_;
      T* to = factors_.data();

      for (int64_t a = first_depth_; a < first_depth_ + depths_; ++a) {
        for (int64_t b = 0; b < walk.axes[2].taps; ++b) {
          for (int64_t c = 0; c < walk.axes[3].taps; ++c) {
            const int64_t line = walk.axes[1].element(a) * walk.kernel[1] + walk.axes[2].element(b);
            const int64_t tap = line * walk.kernel[2] + walk.axes[3].element(c);

            for (int64_t channel = 0; channel < walk.channels; ++channel) {
              for (int64_t o = first; o < first + outputs; ++o)
                *to++ = static_cast<T>(of_.weights_[place(group, o, tap, channel)]);
            }
          }
        }
      }
    }

    /// Where the weight of an output and a channel of a group lies.
    int64_t place(int64_t group, int64_t output, int64_t tap, int64_t channel) const {
      const Walk& walk = of_.walk_;
      const int64_t taps = walk.kernel_elements();
      if (of_.gradient_)
        return ((group * walk.channels + channel) * taps + tap) * walk.outputs + output;
      return ((group * walk.outputs + output) * taps + tap) * walk.channels + channel;
    }

    void multiply(int64_t outputs, const T* bias) {
      constexpr int64_t W = tile::kWidth<T>;
      const int64_t stride = of_.walk_.axes[2].stride;
      const int64_t count = columns_;
      const bool joined = stride == 1;  // lines, over their borders
      const int64_t segments = joined ? 1 : lines_;
      const int64_t length = joined ? (lines_ - 1) * of_.pitch_ + count : count;

      const int64_t vectors = (length + W - 1) / W;
      const int64_t most = plane_vectors(static_cast<int>(outputs));
      const int64_t tiles = (vectors + most - 1) / most;
      for (int64_t s = 0; s < segments; ++s) {
        const T* const from = staged_.data() + s * stride * of_.pitch_;
        T* const to = sums_.data() + s * of_.pitch_;
        for (int64_t i = 0; i < tiles; ++i) {
          const int64_t first = i * vectors / tiles;
          const int64_t height = (i + 1) * vectors / tiles - first;
          plane_tile_for<T>(outputs, height)(offsets_, factors_.data(), from + first * W, bias,
                                             to + first * W, sums_step());
        }
      }
    }

    void store(const T* sums, Stored* out) const {
      constexpr int W = tile::kWidth<T>;
      const int64_t count = columns_;
      const int64_t step = of_.walk_.axes[2].step * of_.to_.step[2];
      const int64_t whole = (count + W - 1) / W * W;

      for (int64_t i = 0; i < lines_; ++i, sums += of_.pitch_, out += step) {
        // Lines of the band that follow this one are written later.
        const bool may_run_over = step == count && whole <= (lines_ - i) * count;
        if (!may_run_over) {
          store_line(sums, count, out);
          continue;
        }
        for (int64_t l = 0; l < count; l += W)
          store_converted<Stored, T>(out + l, tile::load(sums + l), W);
      }
    }

    const PlaneWalk& of_;
    Scratch<T> staged_;
    Scratch<T> sums_;
    Scratch<T> factors_;
    std::vector<int64_t> offsets_;
    int64_t depth_ = 0;  // the place
    int64_t line_ = 0, lines_ = 0;
    int64_t column_ = 0, columns_ = 0;
    int64_t first_depth_ = 0,
            depths_ = 0;  // the taps of depth that lie in the source
  };

  const Walk& walk_;
  const Layout& from_;
  const Layout& to_;
  const Stored* weights_;
  bool gradient_;
  int64_t parts_;  // of a line
  int64_t width_;  // positions of a part
  int64_t pitch_;  // the distance of lines in a plane
  int64_t bands_;
  int64_t band_;    // lines of the result
  int64_t height_;  // lines of a plane
  int64_t plane_;
  int64_t elements_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
