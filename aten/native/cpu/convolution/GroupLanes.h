#pragma once
// Convolutions with few channels in each group, such as depthwise ones: the lanes of vectors are
// outputs of different groups. Included by files compiled once per instruction set.
#include "aten/native/cpu/convolution/WeightGradient.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Groups as lanes]
// Groups are joined to blocks of up to 64 outputs, which are treated as one group. If a group has
// one channel and one output, the staged source has the channels in the order of the lanes;
// otherwise each position has, for every channel of a group, a line with the channel that belongs
// to each lane. Products are then those of whole vectors.

/// Whether a convolution is computed so.
inline bool has_narrow_groups(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.group_channels() <= 8 && g.group_outputs() <= 8;
}

/// Groups joined to blocks.
struct JoinedGroups {
  static constexpr int64_t kLanes = 64;

  Walk walk;                  // of blocks
  int64_t channels, outputs;  // of one group
  Spread spread;
  bool spreads;

  explicit JoinedGroups(const Walk& of)
      : walk(of), channels(of.channels), outputs(of.outputs), spreads(channels > 1 || outputs > 1) {
    const int64_t joined = std::min(of.groups, kLanes / outputs);
    walk.groups = (of.groups + joined - 1) / joined;
    walk.channels = joined * channels;
    walk.outputs = joined * outputs;

    spread.size = channels * kLanes;
    spread.index.assign(static_cast<size_t>(spread.size), 0);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t l = 0; l < walk.outputs; ++l)
        spread.index[static_cast<size_t>(c * kLanes + l)] =
            static_cast<int32_t>(l / outputs * channels + c);
    }
  }

  const Spread* spread_or_null() const { return spreads ? &spread : nullptr; }
};

/// Weights in the order [block][taps][channels][lanes].
template <class E>
class LaneWeights {
 public:
  using Packed = typename E::Packed;
  static constexpr int64_t kLanes = JoinedGroups::kLanes;

  LaneWeights(const JoinedGroups& of, const typename E::Stored* weights, bool gradient,
              int64_t all_outputs)
      : of_(of),
        tap_(of.channels * kLanes),
        block_(of.walk.kernel_elements() * tap_),
        memory_(of.walk.groups * block_) {
    const int64_t taps = of.walk.kernel_elements();
    std::fill_n(memory_.data(), of.walk.groups * block_, Packed(0));
    for (int64_t o = 0; o < all_outputs; ++o) {
      const int64_t group = o / of.outputs;
      Packed* const to = memory_.data() + o / of.walk.outputs * block_ + o % of.walk.outputs;
      for (int64_t k = 0; k < taps; ++k) {
        for (int64_t c = 0; c < of.channels; ++c) {
          const int64_t at =
              gradient ? ((group * of.channels + c) * taps + k) * of.outputs + o % of.outputs
                       : (o * taps + k) * of.channels + c;
          to[k * tap_ + c * kLanes] = static_cast<Packed>(weights[at]);
        }
      }
    }
  }

  int64_t panels() const { return 1; }
  int64_t tap() const { return tap_; }
  const Packed* panel(int64_t group, int64_t) const { return memory_.data() + group * block_; }
  const Spread* spread() const { return of_.spread_or_null(); }

 private:
  const JoinedGroups& of_;
  int64_t tap_;
  int64_t block_;
  Scratch<Packed> memory_;
};

/// R positions times one vector of lanes after another.
template <class T, int R>
void lane_tile(const Window& window, const T* rows, int64_t row_step, const T* weights,
               const T* bias, T* out, int64_t out_step, int64_t outputs) {
  constexpr int64_t W = tile::kWidth<T>;
  constexpr int64_t kLanes = JoinedGroups::kLanes;
  // Lines of channels, if there are several, have as many elements as those of weights.
  const int64_t channels = std::max<int64_t>(1, window.length / kLanes);

  for (int64_t lane = 0; lane < outputs; lane += W) {
    tile::Vector<T> sum[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[r] = tile::load(bias + lane);

    for (const Run& run : window.runs) {
      for (int64_t c = 0; c < channels; ++c) {
        tile::Vector<T> factor = tile::load(weights + run.weight + c * kLanes + lane);
        tile::keep_in_register(factor);
        const T* from = rows + run.source + c * kLanes + lane;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sum[r] += factor * tile::load(from + r * row_step);
      }
    }

    const tile::Prefix<T> last(std::min(W, outputs - lane));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) last.store(out + r * out_step + lane, sum[r]);
  }
}

template <class E>
struct LaneTiles {
  using T = typename E::Packed;
  using Weights = LaneWeights<E>;
  static constexpr int64_t kLanes = Weights::kLanes;
  static constexpr int64_t kRows = 8;
  static constexpr int64_t kReads = tile::kWidth<T>;
  static constexpr bool kJoins = false;

  static WindowTile<T, T> tile_for(int64_t rows, int64_t) {
    static constexpr auto functions = all(std::make_integer_sequence<int, kRows>{});
    return functions[static_cast<size_t>(rows - 1)];
  }

 private:
  template <int... R>
  static constexpr std::array<WindowTile<T, T>, sizeof...(R)>
  all(std::integer_sequence<int, R...>) {
    return {&lane_tile<T, R + 1>...};
  }
};

/// The weight gradient of one tap.
template <class E>
struct LaneGradients {
  using T = typename E::Packed;
  static constexpr int64_t kLanes = JoinedGroups::kLanes;
  static constexpr int64_t kReads = tile::kWidth<T>;
  static constexpr bool kJoins = false;

  static void multiply(const PositionLines& positions, const T* source, int64_t length,
                       const T* grads, int64_t outputs, T* out, bool adds) {
    constexpr int64_t W = tile::kWidth<T>;
    const int64_t channels = std::max<int64_t>(1, length / kLanes);
    for (int64_t c = 0; c < channels; ++c, source += kLanes, out += kLanes) {
      for (int64_t lane = 0; lane < outputs; lane += W) {
        const tile::Vector<T> sum = dot(positions, source + lane, grads + lane);
        tile::store(out + lane, adds ? tile::load(out + lane) + sum : sum);
      }
    }
  }

 private:
  /// Four sums, because one would wait for each addition.
  static tile::Vector<T> dot(const PositionLines& positions, const T* source, const T* grads) {
    tile::Vector<T> sum[4] = {};
    for (const PositionLine& line : positions.lines) {
      const T* a = source + line.source;
      const T* b = grads + line.grad;
      int64_t i = 0;

      for (; i + 4 <= positions.length; i += 4) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          sum[k] += tile::load(a) * tile::load(b);
          a += positions.source_step;
          b += positions.grad_step;
        }
      }
      for (; i < positions.length; ++i) {
        sum[0] += tile::load(a) * tile::load(b);
        a += positions.source_step;
        b += positions.grad_step;
      }
    }

    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
