#pragma once
// Attention of a few queries, as in generation: keys and values are read where they are. Included
// by files compiled once per instruction set.
#include "aten/native/cpu/attention/Softmax.h"
#include "aten/native/cpu/shared/RowFold.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// The output of a few queries of a matrix. Here vectors run along the width of keys and values,
/// and a block of keys serves one query after another.
template <class Stored, class Sum>
class FewQueries {
 public:
  static constexpr int64_t W = tile::kWidth<Sum>;
  /// So many queries leave most lanes of a panel empty, and are faster here.
  static constexpr int64_t kMost = std::max<int64_t>(W / 4, 1);

  FewQueries(const Problem<Stored>& problem, const Matrices<Stored>& out, Sum* logsumexp)
      : problem_(problem),
        out_(out),
        logsumexp_(logsumexp),
        width_(rounded_up(problem.width, W)),
        value_width_(rounded_up(problem.value_width, W)),
        memory_(problem.queries * (width_ + value_width_) + kBlock) {}

  void run(int64_t matrix) {
    for (int64_t query = 0; query < problem_.queries; ++query) begin(matrix, query);

    const int64_t key_matrix = problem_.keys_of(matrix);
    const int64_t keys = problem_.keys_before(problem_.queries);
    for (int64_t key = 0; key < keys; key += kBlock) {
      const Stored* const rows = problem_.key.row(key_matrix, key);
      const Stored* const values = problem_.value.row(key_matrix, key);
      for (int64_t query = 0; query < problem_.queries; ++query) {
        const int64_t n = std::min(kBlock, problem_.keys_before(query + 1) - key);
        if (n > 0) attend(matrix, query, key, n, rows, values);
      }
    }

    for (int64_t query = 0; query < problem_.queries; ++query) finish(matrix, query);
  }

 private:
  static constexpr int64_t kBlock = 256;  // keys
  static constexpr Sum kHidden = -std::numeric_limits<Sum>::infinity();
  using Vector = tile::Vector<Sum>;

  /// Of a query, the query itself, its weighted values, and the scores of a block.
  Sum* given(int64_t query) const { return memory_.data() + kBlock + query * width_; }
  Sum* sums(int64_t query) const { return given(problem_.queries) + query * value_width_; }
  Sum* scores() const { return memory_.data(); }

  void begin(int64_t matrix, int64_t query) {
    const Stored* const from = problem_.query.row(matrix, query);
    for (int64_t p = 0; p < problem_.width; p += W)
      tile::store(given(query) + p, load_some(from + p, problem_.width - p));
    std::fill_n(sums(query), value_width_, Sum(0));
    top_[query] = kHidden;
    sum_[query] = 0;
  }

  void attend(int64_t matrix, int64_t query, int64_t key, int64_t n, const Stored* rows,
              const Stored* values) {
    multiply_keys(rows, n, given(query));
    if (problem_.mask.defined()) problem_.mask.add_to_row(matrix, query, key, n, scores());
    const Sum shrink = weigh(n, top_[query], sum_[query]);
    add_values(values, n, shrink, sums(query));
  }

  void finish(int64_t matrix, int64_t query) {
    Stored* const out = out_.row(matrix, query);
    const Sum sum = sum_[query];
    const Sum factor = sum == Sum(0) ? Sum(0) : Sum(1) / sum;
    for (int64_t j = 0; j < problem_.value_width; ++j)
      out[j] = static_cast<Stored>(sums(query)[j] * factor);
    logsumexp_[matrix * problem_.queries + query] =
        sum == Sum(0) ? kHidden : top_[query] + vec::log(sum);
  }

  static Vector load_some(const Stored* from, int64_t count) {
    return tile::load_converted<Sum>(from, std::min(W, count));
  }

  /// scores = scale * keys . query, for a vector of keys at a time.
  void multiply_keys(const Stored* keys, int64_t n, const Sum* query) {
    for (int64_t k = 0; k < n; k += W) {
      const int64_t last = std::min(W, n - k) - 1;
      const Stored* const from = keys + k * problem_.key.step();
      const Stored* rows[W];
      for (int64_t i = 0; i < W; ++i) rows[i] = from + std::min(i, last) * problem_.key.step();

      const Vector dots = dot_products(rows, query) * Sum(problem_.scale);
      if (last == W - 1) tile::store(scores() + k, dots);
      else tile::Prefix<Sum>(last + 1).store(scores() + k, dots);
    }
  }

  Vector dot_products(const Stored* const (&rows)[W], const Sum* query) const {
    Vector sum[W] = {};
    const auto add = [&](int64_t p, int64_t count) {
      const Vector factor = tile::load(query + p);
#pragma GCC unroll 16
      for (int64_t i = 0; i < W; ++i)
        sum[i] += tile::load_converted<Sum>(rows[i] + p, count) * factor;
    };

    int64_t p = 0;
    for (; p + W <= problem_.width; p += W) add(p, W);
    if (p < problem_.width) add(p, problem_.width - p);

    tile::transpose_square<Sum>(sum);
    Vector total = sum[0];
#pragma GCC unroll 16
    for (int64_t i = 1; i < W; ++i) total += sum[i];
    return total;
  }

  /// Replaces scores by their exponentials. Returns the factor from the last base to this one.
  Sum weigh(int64_t n, Sum& top, Sum& sum) {
    Sum* const weights = scores();
    const Sum highest =
        fold(n, top, [weights](Sum a, int64_t i) { return larger(weights[i], a); }, larger<Sum>);
    const Sum base = highest == kHidden ? Sum(0) : highest;
    for (int64_t i = 0; i < n; ++i) weights[i] = vec::exp(weights[i] - base);

    const Sum shrink = vec::exp(top - base);
    top = highest;
    sum = sum * shrink +
          fold(n, Sum(0), [weights](Sum a, int64_t i) { return a + weights[i]; }, added<Sum>);
    return shrink;
  }

  /// sums = sums * shrink + weights . values
  void add_values(const Stored* values, int64_t n, Sum shrink, Sum* sums) {
    constexpr int64_t kVectors = 4;
    const int64_t width = problem_.value_width;
    int64_t first = 0;
    for (; first + kVectors * W <= width; first += kVectors * W)
      add_columns<kVectors>(values + first, n, shrink, W, sums + first);
    for (; first < width; first += W)
      add_columns<1>(values + first, n, shrink, std::min(W, width - first), sums + first);
  }

  /// V vectors of columns, of which the last has `count` elements.
  template <int V>
  void add_columns(const Stored* values, int64_t n, Sum shrink, int64_t count, Sum* out) {
    Vector sum[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[v] = tile::load(out + v * W) * shrink;

    for (int64_t k = 0; k < n; ++k, values += problem_.value.step()) {
      const Vector weight = tile::broadcast(scores()[k]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v)
        sum[v] += tile::load_converted<Sum>(values + v * W, v == V - 1 ? count : W) * weight;
    }

#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) tile::store(out + v * W, sum[v]);
  }

  const Problem<Stored>& problem_;
  const Matrices<Stored>& out_;
  Sum* logsumexp_;
  int64_t width_;
  int64_t value_width_;
  Buffer<Sum> memory_;
  Sum top_[kMost];
  Sum sum_[kMost];
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
