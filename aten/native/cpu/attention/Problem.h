#pragma once
// The arguments of attention. Included by files compiled once per instruction set.
#include <cmath>

#include "aten/native/cpu/attention/Dropout.h"
#include "aten/native/nn/Attention.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// The largest number of keys whose scores exist at the same time for the queries of a panel.
constexpr int64_t kKeys = 128;

template <class T>
struct Problem {
  explicit Problem(const AttentionArguments& given)
      : Problem(given, given.query, given.key, given.value) {}

  /// How many matrices of queries share keys and values, one after another.
  int64_t group() const { return heads / key_heads; }
  int64_t keys_of(int64_t matrix) const {
    return matrix / heads * key_heads + matrix % heads / group();
  }
  /// How many keys the queries before `end` see.
  int64_t keys_before(int64_t end) const { return causal ? std::min(keys, end) : keys; }

  Matrices<T> query, key, value;
  Mask mask;
  Dropout dropout;
  double scale;
  bool causal;
  int64_t heads, key_heads, matrices, key_matrices;
  int64_t queries, keys, width, value_width;

 private:
  Problem(const AttentionArguments& given, const Tensor& q, const Tensor& k, const Tensor& v)
      : query(q),
        key(k),
        value(v),
        mask(given.mask, given.score_sizes()),
        dropout(given.kept, given.dropout, q.size(2), k.size(2)),
        scale(given.scale),
        causal(given.is_causal),
        heads(q.size(1)),
        key_heads(k.size(1)),
        matrices(q.size(0) * q.size(1)),
        key_matrices(k.size(0) * k.size(1)),
        queries(q.size(2)),
        keys(k.size(2)),
        width(q.size(3)),
        value_width(v.size(3)) {}
};

/// Queries one after another of a matrix, one per lane; `lanes` are whole vectors.
struct QueryLanes {
  int64_t matrix;
  int64_t first;
  int64_t count;
  int64_t lanes;
};

/// Adds masks to scores[key][query], of which a row has `step` elements: -inf for later keys, and
/// the given mask. The buffer is for `n` keys of kLanes queries.
template <class T, class Sum>
void add_masks(const Problem<T>& problem, const QueryLanes& queries, int64_t first_key, int64_t n,
               Sum* scores, int64_t step, Sum* buffer) {
  if (problem.mask.defined())
    problem.mask.add_to(queries.matrix, queries.first, queries.count, first_key, n, scores, step,
                        buffer);
  if (!problem.causal) return;

  constexpr Sum kHidden = -std::numeric_limits<Sum>::infinity();
  const auto lanes = static_cast<int32_t>(queries.lanes);
  for (int64_t k = std::max<int64_t>(0, queries.first + 1 - first_key); k < n; ++k) {
    Sum* const row = scores + k * step;
    const auto earlier =
        static_cast<int32_t>(std::min<int64_t>(first_key + k - queries.first, queries.lanes));
    for (int32_t l = 0; l < lanes; ++l) row[l] = l < earlier ? kHidden : row[l];
  }
}

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
