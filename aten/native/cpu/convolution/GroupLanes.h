#pragma once
// Convolutions with few channels in each group, such as depthwise ones: the lanes of vectors are
// outputs of different groups. Included by files compiled once per instruction set.
#include "aten/native/cpu/convolution/WeightGradient.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Groups as lanes]
// Groups are joined to blocks of up to 128 outputs, which are treated as one group. If a group has
// one channel and one output, the channels are in the order of the lanes, and products are those of
// whole vectors. Otherwise a lane multiplies, for every channel of its group, the element of that
// channel. Where a vector of channels has those of all its lanes, tiles permute it in a register;
// where not, the staged source has a line in the order of the lanes for every channel of a group.

/// Whether a convolution is computed so.
inline bool has_narrow_groups(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.group_channels() <= 8 && g.group_outputs() <= 8;
}

/// Lane l of a vector multiplies, as channel c of its group, element index[c * width + l] of the
/// vector of channels at the same place.
struct LaneOrder {
  int64_t channels = 0;  // of a group
  std::vector<int32_t> index;
};

/// Groups joined to blocks.
struct JoinedGroups {
  static constexpr int64_t kLanes = 128;

  Walk walk;                  // of blocks
  int64_t channels, outputs;  // of one group
  LaneOrder order;
  Spread spread;
  bool spreads;

  explicit JoinedGroups(const Walk& of)
      : walk(of), channels(of.channels), outputs(of.outputs), spreads(channels > 1 || outputs > 1) {
    const int64_t joined = std::min(of.groups, kLanes / outputs);
    walk.groups = (of.groups + joined - 1) / joined;
    walk.channels = joined * channels;
    walk.outputs = joined * outputs;

    order.channels = channels;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t l = 0; l < tile::kWidth<float>; ++l)
        order.index.push_back(static_cast<int32_t>(l / outputs * channels + c));
    }

    spread.size = channels * kLanes;
    spread.index.assign(static_cast<size_t>(spread.size), 0);
    for (int64_t c = 0; c < channels; ++c) {
      // Lanes without an output repeat the last channel.
      for (int64_t l = 0; l < kLanes; ++l)
        spread.index[static_cast<size_t>(c * kLanes + l)] =
            static_cast<int32_t>(std::min(l, walk.outputs - 1) / outputs * channels + c);
    }
  }

  const Spread* spread_or_null() const { return spreads ? &spread : nullptr; }

  /// Whether vectors of T have the channels of all their lanes, and can be permuted.
  template <class T>
  bool permutes() const {
#if defined(__AVX2__)
    constexpr int64_t W = tile::kWidth<T>;
    return std::is_same_v<T, float> && spreads && channels == outputs && W % outputs == 0;
#else
    return false;
#endif
  }
};

/// Weights in the order [block][taps][channels][lanes].
template <class E>
class LaneWeights {
 public:
  using Packed = typename E::Packed;
  static constexpr int64_t kLanes = JoinedGroups::kLanes;

  LaneWeights(const JoinedGroups& of, const WeightSource<typename E::Stored>& weights,
              bool gradient, int64_t all_outputs)
      : of_(of),
        tap_(of.channels * kLanes),
        block_(of.walk.kernel_elements() * tap_),
        memory_(weights.template packed<Packed>(
            Packer::ConvolutionLanes, gradient, of.walk.groups * block_,
            [&](Packed* to) { pack(weights.rows(), gradient, all_outputs, to); })) {}

  int64_t panels() const { return 1; }
  int64_t tap() const { return tap_; }
  const Packed* panel(int64_t group, int64_t) const {
    return static_cast<const Packed*>(memory_.data()) + group * block_;
  }
  const Spread* spread() const { return permutes() ? nullptr : of_.spread_or_null(); }
  const LaneOrder* order() const { return permutes() ? &of_.order : nullptr; }

 private:
  bool permutes() const { return of_.template permutes<Packed>(); }

  void pack(const typename E::Stored* weights, bool gradient, int64_t all_outputs,
            Packed* out) const {
    const int64_t taps = of_.walk.kernel_elements();
    std::fill_n(out, of_.walk.groups * block_, Packed(0));
    for (int64_t o = 0; o < all_outputs; ++o) {
      const int64_t group = o / of_.outputs;
      Packed* const to = out + o / of_.walk.outputs * block_ + o % of_.walk.outputs;
      for (int64_t k = 0; k < taps; ++k) {
        for (int64_t c = 0; c < of_.channels; ++c) {
          const int64_t at =
              gradient ? ((group * of_.channels + c) * taps + k) * of_.outputs + o % of_.outputs
                       : (o * taps + k) * of_.channels + c;
          to[k * tap_ + c * kLanes] = static_cast<Packed>(weights[at]);
        }
      }
    }
  }

  const JoinedGroups& of_;
  int64_t tap_;
  int64_t block_;
  Tensor memory_;
};

/// Fetches what the next line of positions will be the first to read. The processor does not
/// foresee it, because channels are in between.
template <class T>
inline void prefetch_next_line(const Window& window, const T* rows, int64_t row_step, int count,
                               int64_t lane) {
  constexpr int64_t kCacheLine = 64 / sizeof(T);
  if (lane % kCacheLine != 0 || window.runs.empty()) return;

  const T* from = rows + window.runs.back().source + window.next_line + lane;
  for (int r = 0; r < count; ++r) __builtin_prefetch(from + r * row_step);
}

/// R positions times one vector of lanes after another.
template <class T, int R>
void lane_tile(const Window& window, const T* rows, int64_t row_step, const T* weights,
               const T* bias, T* out, int64_t out_step, int64_t outputs) {
  constexpr int64_t W = tile::kWidth<T>;
  constexpr int64_t kLanes = JoinedGroups::kLanes;
  // Lines of channels, if there are several, have as many elements as those of weights.
  const int64_t channels = std::max<int64_t>(1, window.length / kLanes);

  for (int64_t lane = 0; lane < outputs; lane += W) {
    prefetch_next_line(window, rows, row_step, R, lane);
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

#if defined(__AVX2__)
/// The same where vectors of channels are permuted.
template <int R>
void permuted_lane_tile(const Window& window, const float* rows, int64_t row_step,
                        const float* weights, const float* bias, float* out, int64_t out_step,
                        int64_t outputs) {
  constexpr int64_t W = tile::kWidth<float>;
  constexpr int64_t kLanes = JoinedGroups::kLanes;
  const LaneOrder& order = *window.order;

  for (int64_t lane = 0; lane < outputs; lane += W) {
    prefetch_next_line(window, rows, row_step, R, lane);
    tile::Vector<float> sum[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[r] = tile::load(bias + lane);

    for (const Run& run : window.runs) {
      const float* const from = rows + run.source + lane;
      for (int64_t c = 0; c < order.channels; ++c) {
        tile::Vector<float> factor = tile::load(weights + run.weight + c * kLanes + lane);
        const tile::Vector<int32_t> index = tile::load(order.index.data() + c * W);
        tile::keep_in_register(factor);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
          sum[r] += factor * permuted(tile::load(from + r * row_step), index);
      }
    }

    const tile::Prefix<float> last(std::min(W, outputs - lane));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) last.store(out + r * out_step + lane, sum[r]);
  }
}
#endif

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

#if defined(__AVX2__)
/// The same for groups whose vectors are permuted.
template <class E>
struct PermutedLaneTiles : LaneTiles<E> {
  static WindowTile<float, float> tile_for(int64_t rows, int64_t) {
    static constexpr auto functions = all(std::make_integer_sequence<int, LaneTiles<E>::kRows>{});
    return functions[static_cast<size_t>(rows - 1)];
  }

 private:
  template <int... R>
  static constexpr std::array<WindowTile<float, float>, sizeof...(R)>
  all(std::integer_sequence<int, R...>) {
    return {&permuted_lane_tile<R + 1>...};
  }
};
#endif

/// The weight gradient of taps.
template <class E>
struct LaneGradients {
  using T = typename E::Packed;
  static constexpr int64_t kLanes = JoinedGroups::kLanes;
  static constexpr int64_t kReads = tile::kWidth<T>;
  static constexpr bool kJoins = true;

  static void multiply(const PositionLines& positions, const T* source, int64_t length,
                       int64_t rows, const T* grads, int64_t outputs, T* out, bool adds) {
    const int64_t step = length / rows;
    for (int64_t lane = 0; lane < outputs; lane += tile::kWidth<T>) {
      int64_t r = 0;
      for (; r + 3 <= rows; r += 3)
        sum<3>(positions, source + r * step + lane, step, grads + lane, out + r * kLanes + lane,
               adds);
      for (; r < rows; ++r)
        sum<1>(positions, source + r * step + lane, step, grads + lane, out + r * kLanes + lane,
               adds);
    }
  }

 private:
  /// Two sums for each of R rows, because one would wait for each addition.
  template <int R>
  static void sum(const PositionLines& positions, const T* source, int64_t step, const T* grads,
                  T* out, bool adds) {
    tile::Vector<T> sums[2][R] = {};
    for (const PositionLine& line : positions.lines) {
      const T* a = source + line.source;
      const T* b = grads + line.grad;

      for (int64_t i = 0; i < positions.length; ++i) {
        const tile::Vector<T> factor = tile::load(b);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sums[0][r] += factor * tile::load(a + r * step);
        a += positions.source_step;
        b += positions.grad_step;

        if (++i == positions.length) break;
        const tile::Vector<T> next = tile::load(b);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sums[1][r] += next * tile::load(a + r * step);
        a += positions.source_step;
        b += positions.grad_step;
      }
    }

    for (int r = 0; r < R; ++r) {
      const tile::Vector<T> total = sums[0][r] + sums[1][r];
      T* const to = out + r * kLanes;
      tile::store(to, adds ? tile::load(to) + total : total);
    }
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
