#pragma once
// Attention of a few queries, as in generation: keys and values are read where they are. Included
// by files compiled once per instruction set.
#include "aten/native/cpu/attention/Softmax.h"
#include "aten/native/cpu/shared/RowFold.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// Lengths up to this one leave most lanes of a panel empty.
constexpr int64_t kFewQueries = 3;

/// The output of one query at a time. Here vectors run along the width of keys and values.
template <class Stored, class Sum>
class FewQueries {
 public:
  FewQueries(const Problem<Stored>& problem, const Matrices<Stored>& out, Sum* logsumexp)
      : problem_(problem),
        out_(out),
        logsumexp_(logsumexp),
        width_(rounded_up(problem.width, W)),
        value_width_(rounded_up(problem.value_width, W)),
        memory_(width_ + value_width_ + kBlock) {}

  void run(int64_t matrix, int64_t first, int64_t end) {
    for (int64_t query = first; query < end; ++query) attend(matrix, query);
  }

 private:
  static constexpr int64_t W = tile::kWidth<Sum>;
  static constexpr int64_t kBlock = 512;  // keys
  static constexpr Sum kHidden = -std::numeric_limits<Sum>::infinity();
  using Vector = tile::Vector<Sum>;

  Sum* query() const { return memory_.data(); }
  Sum* sums() const { return memory_.data() + width_; }
  Sum* scores() const { return memory_.data() + width_ + value_width_; }

  void attend(int64_t matrix, int64_t row) {
    const Stored* const given = problem_.query.row(matrix, row);
    for (int64_t p = 0; p < problem_.width; p += W)
      tile::store(query() + p, load_some(given + p, problem_.width - p));
    std::fill_n(sums(), value_width_, Sum(0));

    Sum top = kHidden;
    Sum sum = 0;
    const int64_t key_matrix = problem_.keys_of(matrix);
    const int64_t keys = problem_.keys_before(row + 1);
    for (int64_t key = 0; key < keys; key += kBlock) {
      const int64_t n = std::min(kBlock, keys - key);
      multiply_keys(problem_.key.row(key_matrix, key), n);
      if (problem_.mask.defined()) problem_.mask.add_to_row(matrix, row, key, n, scores());
      const Sum shrink = weigh(n, top, sum);
      add_values(problem_.value.row(key_matrix, key), n, shrink);
    }

    Stored* const out = out_.row(matrix, row);
    const Sum factor = sum == Sum(0) ? Sum(0) : Sum(1) / sum;
    for (int64_t j = 0; j < problem_.value_width; ++j)
      out[j] = static_cast<Stored>(sums()[j] * factor);
    logsumexp_[matrix * problem_.queries + row] = sum == Sum(0) ? kHidden : top + vec::log(sum);
  }

  static Vector load_some(const Stored* from, int64_t count) {
    return tile::load_converted<Sum>(from, std::min(W, count));
  }

  /// scores = scale * keys . query, for a vector of keys at a time.
  void multiply_keys(const Stored* keys, int64_t n) {
    for (int64_t k = 0; k < n; k += W) {
      const int64_t last = std::min(W, n - k) - 1;
      const Stored* const from = keys + k * problem_.key.step();
      const Stored* rows[W];
      for (int64_t i = 0; i < W; ++i) rows[i] = from + std::min(i, last) * problem_.key.step();

      const Vector dots = dot_products(rows) * Sum(problem_.scale);
      if (last == W - 1) tile::store(scores() + k, dots);
      else tile::Prefix<Sum>(last + 1).store(scores() + k, dots);
    }
  }

  Vector dot_products(const Stored* const (&rows)[W]) const {
    Vector sum[W] = {};
    const auto add = [&](int64_t p, int64_t count) {
      const Vector factor = tile::load(query() + p);
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
  void add_values(const Stored* values, int64_t n, Sum shrink) {
    constexpr int64_t kVectors = 4;
    const int64_t width = problem_.value_width;
    int64_t first = 0;
    for (; first + kVectors * W <= width; first += kVectors * W)
      add_columns<kVectors>(values + first, n, shrink, W, sums() + first);
    for (; first < width; first += W)
      add_columns<1>(values + first, n, shrink, std::min(W, width - first), sums() + first);
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
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
