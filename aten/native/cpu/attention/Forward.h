#pragma once
// Attention to blocks of keys. Included by files compiled once per instruction set.
#include <vector>

#include "aten/native/cpu/attention/Softmax.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// The output of some queries of a matrix, for elements of type E. Queries are cut into panels of
/// kLanes; a block of keys serves one panel after another while it is in the cache.
template <class E>
class Forward {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  static constexpr int64_t kLanes = Operands<E>::kLanes;

  /// For up to `queries` queries at a time.
  Forward(const Problem<Stored>& problem, const Matrices<Stored>& out, Sum* logsumexp,
          int64_t queries)
      : problem_(problem),
        out_(out),
        logsumexp_(logsumexp),
        packed_panel_(O::groups(problem.width) * kLanes),
        out_panel_(problem.value_width * kLanes),
        softmax_(static_cast<size_t>((queries + kLanes - 1) / kLanes)),
        packed_(int64_t(softmax_.size()) * packed_panel_ + kLanes),
        sums_(int64_t(softmax_.size()) * out_panel_),
        scores_(kKeys * kLanes),
        pairs_(E::kGroup == 1 ? 0 : kKeys / 2 * kLanes),
        spare_(std::max(kKeys * kLanes, kLanes * (problem.value_width + kLanes))),
        keys_(O::line_elements(kKeys, problem.width)),
        values_(O::across_elements(kKeys, problem.value_width)) {}

  void run(int64_t matrix, int64_t first, int64_t end) {
    matrix_ = matrix;
    first_ = first;
    end_ = end;
    const int64_t panels = (end - first + kLanes - 1) / kLanes;
    for (int64_t panel = 0; panel < panels; ++panel) begin(panel);

    const int64_t key_matrix = problem_.keys_of(matrix);
    const int64_t keys = problem_.keys_before(end);
    for (int64_t key = 0; key < keys; key += kKeys) {
      const int64_t n = std::min(kKeys, keys - key);
      const auto rows = O::lines(problem_.key.row(key_matrix, key), problem_.key.step(), n,
                                 problem_.width, keys_.data());
      const auto values = O::across(problem_.value.row(key_matrix, key), problem_.value.step(), n,
                                    problem_.value_width, values_.data());
      for (int64_t panel = 0; panel < panels; ++panel) attend(panel, key, n, rows, values);
    }

    for (int64_t panel = 0; panel < panels; ++panel) finish(panel);
  }

 private:
  using O = Operands<E>;
  static constexpr int64_t W = tile::kWidth<Sum>;

  QueryLanes queries_of(int64_t panel) const {
    const int64_t first = first_ + panel * kLanes;
    const int64_t count = std::min(kLanes, end_ - first);
    return {matrix_, first, count, count <= W ? W : kLanes};
  }

  void begin(int64_t panel) {
    const QueryLanes queries = queries_of(panel);
    O::transposed(problem_.query.row(matrix_, queries.first), problem_.query.step(), queries.count,
                  problem_.width, packed_.data() + panel * packed_panel_);
    softmax_[size_t(panel)].reset();
  }

  void attend(int64_t panel, int64_t key, int64_t n, const Block<Packed>& rows,
              const Block<Packed>& values) {
    const QueryLanes queries = queries_of(panel);
    n = std::min(n, problem_.keys_before(queries.first + queries.count) - key);
    if (n <= 0) return;

    if (queries.lanes == W) attend_lanes<1>(panel, queries, key, n, rows, values);
    else attend_lanes<tile::kTileVectors>(panel, queries, key, n, rows, values);
  }

  template <int V>
  void attend_lanes(int64_t panel, const QueryLanes& queries, int64_t key, int64_t n,
                    const Block<Packed>& rows, const Block<Packed>& values) {
    constexpr int64_t kCount = V * W;
    Sum* const scores = scores_.data();
    multiply<E>(O::groups(problem_.width),
                {packed_.data() + panel * packed_panel_, kLanes, kCount, true}, n, rows,
                tile::RowOrder::Lines, {scores, kCount, Sum(problem_.scale), Sum(0)});
    add_masks(problem_, queries, key, n, scores, kCount, spare_.data());

    alignas(tile::kVectorBytes) Sum shrink[kCount];
    RunningSoftmax<E>& softmax = softmax_[size_t(panel)];
    const bool shrinks = softmax.template next<V>(scores, n, shrink);
    const Packed* const weights = add_weights<V>(softmax, queries, key, n);

    Sum* const sums = sums_.data() + panel * out_panel_;
    if (shrinks && key > 0) scale_sums<V>(sums, shrink);
    multiply<E>(O::groups(n), {weights, kCount, kCount, true}, problem_.value_width, values,
                tile::RowOrder::Packed, {sums, kLanes, Sum(1), key == 0 ? Sum(0) : Sum(1)});
  }

  template <int V>
  const Packed* add_weights(RunningSoftmax<E>& softmax, const QueryLanes& queries, int64_t key,
                            int64_t n) {
    Sum* const scores = scores_.data();
    if (!problem_.dropout.defined())
      return softmax.template add<V, false>(scores, n, nullptr, pairs_.data());

    Sum* const factors = spare_.data();
    problem_.dropout.factors(queries.matrix, queries.first, queries.count, key, n, factors, V * W);
    return softmax.template add<V, true>(scores, n, factors, pairs_.data());
  }

  template <int V>
  void scale_sums(Sum* sums, const Sum* factors) const {
    for (int64_t j = 0; j < problem_.value_width; ++j, sums += kLanes) {
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v)
        tile::store(sums + v * W, tile::load(sums + v * W) * tile::load(factors + v * W));
    }
  }

  void finish(int64_t panel) {
    const QueryLanes queries = queries_of(panel);
    const RunningSoftmax<E>& softmax = softmax_[size_t(panel)];
    alignas(tile::kVectorBytes) Sum factors[kLanes];
    softmax.factors(factors);
    store_columns(sums_.data() + panel * out_panel_, kLanes, problem_.value_width, queries.count,
                  factors, out_.row(matrix_, queries.first), out_.step(), spare_.data());

    Sum* const logsumexp = logsumexp_ + matrix_ * problem_.queries + queries.first;
    for (int64_t l = 0; l < queries.count; ++l) logsumexp[l] = softmax.logsumexp(l);
  }

  const Problem<Stored>& problem_;
  const Matrices<Stored>& out_;
  Sum* logsumexp_;
  int64_t packed_panel_;
  int64_t out_panel_;
  std::vector<RunningSoftmax<E>> softmax_;
  Buffer<Packed> packed_;  // queries, one panel after another
  Buffer<Sum> sums_;       // weighted values[width][query]
  Buffer<Sum> scores_;     // of one block of keys and one panel
  Buffer<Packed> pairs_;   // weights, if they are not multiplied as they are
  Buffer<Sum> spare_;
  Buffer<Packed> keys_;
  Buffer<Packed> values_;

  int64_t matrix_ = 0;
  int64_t first_ = 0;
  int64_t end_ = 0;
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
