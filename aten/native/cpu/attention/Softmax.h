#pragma once
// The running softmax of a panel of queries, over blocks of keys (Milakov and Gimelshein 2018).
// Included by files compiled once per instruction set.
#include "aten/native/cpu/attention/Problem.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// The larger of two numbers in each lane, or b if one is NaN.
template <class V>
inline V larger_lanes(V a, V b) {
  return a > b ? a : b;
}

/// values = exp(values - base), for whole vectors.
template <class Sum>
inline void exponentials(Sum* values, int64_t count, const Sum* base) {
#ifdef AT_VEC_HAS_PACKS
  if constexpr (std::is_same_v<Sum, float>) {
    for (int64_t l = 0; l < count; l += tile::kWidth<float>)
      tile::store(values + l, vec::exp(tile::load(values + l) - tile::load(base + l)));
    return;
  }
#endif
#pragma GCC ivdep
  for (int64_t l = 0; l < count; ++l) values[l] = vec::exp(values[l] - base[l]);
}

/// The largest score and the sum of exponentials of each query of a panel so far.
template <class E>
struct RunningSoftmax {
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  static constexpr int64_t W = tile::kWidth<Sum>;
  static constexpr int64_t kLanes = Operands<E>::kLanes;

  void reset() {
    std::fill_n(top, kLanes, -std::numeric_limits<Sum>::infinity());
    std::fill_n(sum, kLanes, Sum(0));
  }

  /// Replaces the scores of n keys, in rows of V vectors, by their exponentials relative to the
  /// largest score so far. `shrink` is the factor from the last base to this one. Returns whether
  /// a factor is not 1.
  template <int V>
  bool next(Sum* scores, int64_t n, Sum* shrink) {
    constexpr int64_t kCount = V * W;
    alignas(tile::kVectorBytes) Sum base[kCount];
    alignas(tile::kVectorBytes) Sum last[kCount];
    std::copy_n(top, kCount, last);
    raise_top<V>(scores, n);

    // Where all keys so far are masked, their exponentials are 0.
    bool shrinks = false;
    for (int64_t l = 0; l < kCount; ++l)
      base[l] = top[l] == -std::numeric_limits<Sum>::infinity() ? Sum(0) : top[l];
    for (int64_t l = 0; l < kCount; ++l) shrink[l] = vec::exp(last[l] - base[l]);
    for (int64_t l = 0; l < kCount; ++l) shrinks |= shrink[l] != Sum(1);
    for (int64_t l = 0; l < kCount; ++l) sum[l] *= shrink[l];

    for (int64_t k = 0; k < n; ++k) exponentials(scores + k * kCount, kCount, base);
    return shrinks;
  }

  /// Adds the exponentials of n keys to the sums, then multiplies them by the factors of dropout.
  /// Returns them as tiles read them: pairs are rounded into `pairs`.
  template <int V, bool kDrops>
  const Packed* add(Sum* weights, int64_t n, [[maybe_unused]] const Sum* factors,
                    [[maybe_unused]] Packed* pairs) {
    tile::Vector<Sum> total[2][V] = {};
    for (int64_t k = 0; k < n; k += 2) {
      tile::Vector<Sum> each[2][V] = {};
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        each[0][v] = tile::load(weights + (k * V + v) * W);
        if (k + 1 < n) each[1][v] = tile::load(weights + ((k + 1) * V + v) * W);
        total[0][v] += each[0][v];
        total[1][v] += each[1][v];
        if constexpr (kDrops) {
          each[0][v] *= tile::load(factors + (k * V + v) * W);
          if (k + 1 < n) each[1][v] *= tile::load(factors + ((k + 1) * V + v) * W);
          if constexpr (E::kGroup == 1) {
            tile::store(weights + (k * V + v) * W, each[0][v]);
            if (k + 1 < n) tile::store(weights + ((k + 1) * V + v) * W, each[1][v]);
          }
        }
#ifdef AT_TILE_HAS_PAIRS
        if constexpr (E::kGroup == 2)
          tile::store(pairs + (k / 2 * V + v) * W,
                      tile::paired(tile::rounded(each[0][v], each[1][v])));
#endif
      }
    }

    for (int v = 0; v < V; ++v) {
      Sum* const to = sum + v * W;
      tile::store(to, tile::load(to) + (total[0][v] + total[1][v]));
    }
    if constexpr (E::kGroup == 2) return pairs;
    else return weights;
  }

  /// What the sums of weighted values are multiplied by at the end, 0 for fully masked queries.
  void factors(Sum* out) const {
    for (int64_t l = 0; l < kLanes; ++l) out[l] = sum[l] == Sum(0) ? Sum(0) : Sum(1) / sum[l];
  }

  Sum logsumexp(int64_t lane) const {
    return sum[lane] == Sum(0) ? -std::numeric_limits<Sum>::infinity()
                               : top[lane] + vec::log(sum[lane]);
  }

  alignas(tile::kVectorBytes) Sum top[kLanes];
  alignas(tile::kVectorBytes) Sum sum[kLanes];

 private:
  template <int V>
  void raise_top(const Sum* scores, int64_t n) {
    tile::Vector<Sum> highest[2][V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) highest[0][v] = highest[1][v] = tile::load(top + v * W);

    int64_t k = 0;
    for (; k + 2 <= n; k += 2) {
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v)
          highest[i][v] = larger_lanes(tile::load(scores + ((k + i) * V + v) * W), highest[i][v]);
      }
    }
    for (int v = 0; v < V; ++v) {
      if (k < n) highest[0][v] = larger_lanes(tile::load(scores + (k * V + v) * W), highest[0][v]);
      tile::store(top + v * W, larger_lanes(highest[0][v], highest[1][v]));
    }
  }
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
