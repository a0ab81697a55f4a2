#pragma once
// The gradients of attention, from scores that are computed anew (Dao et al. 2022). Included by
// files compiled once per instruction set.
#include "aten/native/cpu/attention/MaskGradient.h"
#include "aten/native/cpu/attention/Softmax.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// Consecutive queries, keys or heads.
struct Range {
  int64_t first;
  int64_t end;

  int64_t size() const { return end - first; }
};

/// What the gradients are computed from, and where they go.
template <class T, class Sum>
struct Gradients {
  Matrices<T> out, grad;
  const Sum* logsumexp;
  Matrices<T> query, key, value;
  MaskGradient<Sum> mask;  // of gradients of queries
};

/// How the weights and the gradients of scores of a block are stored for tiles of type E: as they
/// are computed.
template <class E>
class BlockWeights {
 public:
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;

  explicit BlockWeights(int64_t) {}

  void pack(Sum* weights, Sum* grads, Range, int64_t, int64_t lanes) {
    weights_ = {weights, lanes * int64_t{sizeof(Sum)}, true};
    grads_ = {grads, lanes * int64_t{sizeof(Sum)}, true};
  }

  /// Rows whose depth is the queries.
  const Block<Packed>& weights() const { return weights_; }
  const Block<Packed>& grads() const { return grads_; }
  /// Lanes whose depth is the keys.
  const Block<Packed>& grads_across() const { return grads_; }

 private:
  Block<Packed> weights_{};
  Block<Packed> grads_{};
};

#ifdef AT_TILE_HAS_PAIRS
/// Rounded, in pairs of queries and in pairs of keys.
template <>
class BlockWeights<tile::Pairs> {
 public:
  explicit BlockWeights(int64_t elements)
      : weights_(elements / 2), grads_(elements / 2), across_(elements / 2) {}

  /// For some keys and the queries from `first_lane` on. An odd number of keys ends the block.
  void pack(const float* weights, const float* grads, Range keys, int64_t first_lane,
            int64_t lanes) {
    lanes_ = lanes;
    for (int64_t k = keys.first; k < keys.end; k += 2) {
      const bool last = k + 1 == keys.end;
      for (int64_t l = first_lane; l < lanes; l += W) {
        const float* const w = weights + k * lanes + l;
        const float* const g = grads + k * lanes + l;
        store_rows(rounded_rows(w, last ? nullptr : w + lanes), weights_.data(), k, l);

        const auto grad_rows = rounded_rows(g, last ? nullptr : g + lanes);
        store_rows(grad_rows, grads_.data(), k, l);
        tile::store(across_.data() + k / 2 * lanes + l, tile::paired(grad_rows));
      }
    }
  }

  Block<uint32_t> weights() const { return {weights_.data(), lanes_ * 2, true}; }
  Block<uint32_t> grads() const { return {grads_.data(), lanes_ * 2, true}; }
  Block<uint32_t> grads_across() const { return {across_.data(), lanes_ * 4, true}; }

 private:
  static constexpr int64_t W = tile::kWidth<float>;

  static tile::Vector<uint32_t> rounded_rows(const float* row, const float* next) {
    return tile::rounded(tile::load(row), next ? tile::load(next) : tile::Vector<float>{});
  }

  /// The halves of a vector into rows k and k + 1.
  void store_rows(const tile::Vector<uint32_t>& both, uint32_t* to, int64_t k, int64_t lane) const {
    const char* const from = reinterpret_cast<const char*>(&both);
    char* const row = reinterpret_cast<char*>(to) + (k * lanes_ + lane) * 2;
    std::memcpy(row, from, tile::kVectorBytes / 2);
    std::memcpy(row + lanes_ * 2, from + tile::kVectorBytes / 2, tile::kVectorBytes / 2);
  }

  Buffer<uint32_t> weights_;
  Buffer<uint32_t> grads_;
  Buffer<uint32_t> across_;
  int64_t lanes_ = 0;
};
#endif

/// Gradients over a range of queries and one of keys, for elements of type E.
template <class E>
class Backward {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  using Sum = typename E::Sum;
  static constexpr int64_t kLanes = Operands<E>::kLanes;
  /// The queries of a block.
  static constexpr int64_t kQueries = std::max<int64_t>(128, kLanes);

  /// For gradients of queries, of up to `most_keys` keys and their values, or both.
  Backward(const Problem<Stored>& problem, const Gradients<Stored, Sum>& gradients,
           bool wants_queries, int64_t most_keys)
      : problem_(problem),
        gradients_(gradients),
        wants_queries_(wants_queries),
        wants_keys_(most_keys > 0),
        widest_(rounded_up(std::max(problem.width, problem.value_width), kLanes)),
        key_sums_(most_keys * rounded_up(problem.width, kLanes)),
        value_sums_(most_keys * rounded_up(problem.value_width, kLanes)),
        query_sums_(kQueries * problem.width),
        weights_(kKeys * kQueries),
        grads_(kKeys * kQueries),
        factors_(problem.dropout.defined() ? kKeys * kQueries : 0),
        packed_weights_(kKeys * kQueries),
        spare_(std::max(kKeys * kLanes, kLanes * (widest_ + kLanes))),
        packed_queries_(kQueries * O::groups(problem.width) + kLanes),
        packed_grads_(kQueries * O::groups(problem.value_width) + kLanes),
        query_rows_(O::across_elements(kQueries, problem.width)),
        grad_rows_(O::across_elements(kQueries, problem.value_width)),
        key_lines_(O::line_elements(kKeys, problem.width)),
        value_lines_(O::line_elements(kKeys, problem.value_width)),
        key_rows_(O::across_elements(kKeys, problem.width)) {}

  /// Adds up what queries of some heads, which share the keys of `key_matrix`, contribute.
  void run(int64_t key_matrix, Range heads, Range queries, Range keys) {
    key_matrix_ = key_matrix;
    keys_ = keys;
    if (wants_keys_) {
      std::fill_n(key_sums_.data(), keys.size() * key_step(), Sum(0));
      std::fill_n(value_sums_.data(), keys.size() * value_step(), Sum(0));
    }

    for (int64_t matrix = heads.first; matrix < heads.end; ++matrix) {
      for (int64_t first = queries.first; first < queries.end; first += kQueries)
        add_queries(matrix, first, std::min(kQueries, queries.end - first));
    }

    if (!wants_keys_) return;
    store_sums(key_sums_.data(), key_step(), problem_.width, gradients_.key);
    store_sums(value_sums_.data(), value_step(), problem_.value_width, gradients_.value);
  }

 private:
  using O = Operands<E>;
  static constexpr int64_t W = tile::kWidth<Sum>;

  int64_t key_step() const { return rounded_up(problem_.width, kLanes); }
  int64_t value_step() const { return rounded_up(problem_.value_width, kLanes); }

  void add_queries(int64_t matrix, int64_t first, int64_t count) {
    const int64_t end = std::min(keys_.end, problem_.keys_before(first + count));
    if (end <= keys_.first) return;
    load_queries(matrix, first, count);
    for (int64_t key = keys_.first; key < end; key += kKeys)
      add_block(key, std::min(kKeys, end - key));

    if (wants_queries_) store_queries();
  }

  // -- a block of queries --

  void load_queries(int64_t matrix, int64_t first, int64_t count) {
    matrix_ = matrix;
    first_ = first;
    count_ = count;
    lanes_ = rounded_up(count, W);

    const Stored* const query = problem_.query.row(matrix, first);
    const Stored* const grad = gradients_.grad.row(matrix, first);
    for (int64_t l = 0; l < count; l += kLanes) {
      const int64_t some = std::min(kLanes, count - l);
      O::transposed(query + l * problem_.query.step(), problem_.query.step(), some, problem_.width,
                    packed_queries_.data() + l * O::groups(problem_.width));
      O::transposed(grad + l * gradients_.grad.step(), gradients_.grad.step(), some,
                    problem_.value_width,
                    packed_grads_.data() + l * O::groups(problem_.value_width));
    }

    if (wants_keys_) {
      query_across_ =
          O::across(query, problem_.query.step(), count, problem_.width, query_rows_.data());
      grad_across_ =
          O::across(grad, gradients_.grad.step(), count, problem_.value_width, grad_rows_.data());
    }
    load_rows(grad);
  }

  /// The logarithm of the sum of exponentials of each query, infinite if all of its keys are
  /// masked, and the sum of weight * gradient over its keys, which equals grad . out.
  void load_rows(const Stored* grad) {
    const Stored* out = gradients_.out.row(matrix_, first_);
    const Sum* const logsumexp = gradients_.logsumexp + matrix_ * problem_.queries + first_;
    constexpr Sum kInfinity = std::numeric_limits<Sum>::infinity();

    for (int64_t l = 0; l < lanes_; ++l) {
      const bool hidden = l >= count_ || logsumexp[l] == -kInfinity;
      logsumexp_[l] = hidden ? kInfinity : logsumexp[l];
      dots_[l] = 0;
      if (l >= count_) continue;

      for (int64_t j = 0; j < problem_.value_width; j += W) {
        const int64_t some = std::min(W, problem_.value_width - j);
        const auto product =
            tile::load_converted<Sum>(grad + j, some) * tile::load_converted<Sum>(out + j, some);
        tile::store(spare_.data() + j, product);
      }
      dots_[l] = total(spare_.data(), rounded_up(problem_.value_width, W));
      grad += gradients_.grad.step();
      out += gradients_.out.step();
    }
  }

  /// The sum of n numbers, whole vectors.
  static Sum total(const Sum* from, int64_t n) {
    tile::Vector<Sum> sum = {};
    for (int64_t i = 0; i < n; i += W) sum += tile::load(from + i);

    Sum result = 0;
    for (int64_t i = 0; i < W; ++i) result += sum[i];
    return result;
  }

  void store_queries() {
    alignas(tile::kVectorBytes) Sum factors[kLanes];
    std::fill_n(factors, kLanes, Sum(1));
    for (int64_t l = 0; l < count_; l += kLanes) {
      Stored* const to = gradients_.query.row(matrix_, first_ + l);
      store_columns(query_sums_.data() + l * problem_.width, kLanes, problem_.width,
                    std::min(kLanes, count_ - l), factors, to, gradients_.query.step(),
                    spare_.data());
    }
  }

  // -- a block of queries and keys --

  void add_block(int64_t key, int64_t n) {
    const Stored* const keys = problem_.key.row(key_matrix_, key);
    const Stored* const values = problem_.value.row(key_matrix_, key);
    const auto key_lines =
        O::lines(keys, problem_.key.step(), n, problem_.width, key_lines_.data());
    const auto value_lines =
        O::lines(values, problem_.value.step(), n, problem_.value_width, value_lines_.data());
    for (int64_t l = 0; l < lanes_; l += kLanes) {
      const int64_t seen = seen_by(l, key, n);
      multiply_lanes(key_lines, seen, l, packed_queries_.data(), problem_.width,
                     Sum(problem_.scale), weights_.data());
      multiply_lanes(value_lines, seen, l, packed_grads_.data(), problem_.value_width, Sum(1),
                     grads_.data());
      const QueryLanes queries{matrix_, first_ + l, std::min(kLanes, count_ - l),
                               std::min(kLanes, lanes_ - l)};
      add_masks(problem_, queries, key, seen, weights_.data() + l, lanes_, spare_.data());
    }

    // Later panels see more keys.
    Range some{0, 0};
    for (int64_t l = 0; l < lanes_; l += kLanes) {
      some.end = seen_by(l, key, n);
      if (some.size() > 0) add_keys(key, some, l);
      some.first = std::max(some.first, some.end);
    }

    if (!wants_queries_) return;
    const auto key_rows = O::across(keys, problem_.key.step(), n, problem_.width, key_rows_.data());
    for (int64_t l = 0; l < lanes_; l += kLanes)
      add_to_queries(key_rows, seen_by(l, key, n), l, key == keys_.first);
  }

  /// How many of n keys the panel of queries at lane l sees.
  int64_t seen_by(int64_t l, int64_t key, int64_t n) const {
    const int64_t end = first_ + std::min(l + kLanes, count_);
    return std::clamp<int64_t>(problem_.keys_before(end) - key, 0, n);
  }

  /// out[key][query] = alpha * rows x packed, for the panel of queries at lane l.
  void multiply_lanes(const Block<Packed>& rows, int64_t n, int64_t l, const Packed* packed,
                      int64_t width, Sum alpha, Sum* out) const {
    const int64_t depth = O::groups(width);
    multiply<E>(depth, {packed + l * depth, kLanes, std::min(kLanes, lanes_ - l), true}, n, rows,
                tile::RowOrder::Lines, {out + l, lanes_, alpha, Sum(0)});
  }

  /// What the queries from lane l on contribute to gradients of some keys and values.
  void add_keys(int64_t key, Range some, int64_t l) {
    if (problem_.dropout.defined()) weigh_kept(key, some, l);
    else weigh(some, l);
    if (wants_queries_ && gradients_.mask.defined()) add_to_mask(key, some, l);
    packed_weights_.pack(weights_.data(), grads_.data(), some, l, lanes_);
    if (!wants_keys_) return;

    const int64_t row = key - keys_.first + some.first;
    add_rows(packed_weights_.weights(), some, l, Sum(1), grad_across_, problem_.value_width,
             value_sums_.data() + row * value_step(), value_step());
    add_rows(packed_weights_.grads(), some, l, Sum(problem_.scale), query_across_, problem_.width,
             key_sums_.data() + row * key_step(), key_step());
  }

  /// Replaces scores by weights, and gradients of weights by those of scores:
  /// weight * (gradient - dot), which are not multiplied by `scale` yet.
  void weigh(Range keys, int64_t first_lane) {
    for (int64_t k = keys.first; k < keys.end; ++k) {
      Sum* const weights = weights_.data() + k * lanes_;
      exponentials(weights + first_lane, lanes_ - first_lane, logsumexp_ + first_lane);

      Sum* const grads = grads_.data() + k * lanes_;
#pragma GCC ivdep
      for (int64_t l = first_lane; l < lanes_; ++l) grads[l] = weights[l] * (grads[l] - dots_[l]);
    }
  }

  /// The same with dropout of some keys of the block from `key` on: gradients of weights, and the
  /// weights of values, are multiplied by its factors.
  void weigh_kept(int64_t key, Range keys, int64_t first_lane) {
    Sum* const block = factors_.data();
    problem_.dropout.factors(matrix_, first_ + first_lane, count_ - first_lane, key + keys.first,
                             keys.size(), block + keys.first * lanes_ + first_lane, lanes_);

    for (int64_t k = keys.first; k < keys.end; ++k) {
      Sum* const weights = weights_.data() + k * lanes_;
      Sum* const grads = grads_.data() + k * lanes_;
      const Sum* const factors = block + k * lanes_;
      exponentials(weights + first_lane, lanes_ - first_lane, logsumexp_ + first_lane);
#pragma GCC ivdep
      for (int64_t l = first_lane; l < lanes_; ++l) {
        grads[l] = weights[l] * (grads[l] * factors[l] - dots_[l]);
        weights[l] *= factors[l];
      }
    }
  }

  /// Adds the gradients of scores of some keys of the block from `key` on to that of the mask.
  void add_to_mask(int64_t key, Range some, int64_t l) {
    const Sum* const grads = grads_.data() + some.first * lanes_ + l;
    gradients_.mask.add(matrix_, first_ + l, count_ - l, key + some.first, some.size(), grads,
                        lanes_, spare_.data());
  }

  /// sums[key][width] += alpha * rows x lanes, whose depth is the queries from lane l on.
  void add_rows(const Block<Packed>& rows, Range keys, int64_t l, Sum alpha,
                const Block<Packed>& lanes, int64_t width, Sum* sums, int64_t step) const {
    const Block<Packed> from = rows.at(keys.first, l / O::kGroup);
    const Block<Packed> to = lanes.at(l / O::kGroup, 0);
    for (int64_t j = 0; j < width; j += kLanes) {
      multiply<E>(O::groups(count_ - l),
                  {to.data + j, to.step(), std::min(kLanes, width - j), to.padded}, keys.size(),
                  from, tile::RowOrder::Lines, {sums + j, step, alpha, Sum(1)});
    }
  }

  /// query_sums[width][query] += keys x gradients of scores, for the panel at lane l.
  void add_to_queries(const Block<Packed>& keys, int64_t n, int64_t l, bool first) {
    const Block<Packed>& grads = packed_weights_.grads_across();
    multiply<E>(O::groups(n), {grads.data + l, grads.step(), std::min(kLanes, lanes_ - l), true},
                problem_.width, keys, tile::RowOrder::Packed,
                {query_sums_.data() + l * problem_.width, kLanes, Sum(problem_.scale),
                 first ? Sum(0) : Sum(1)});
  }

  void store_sums(const Sum* sums, int64_t step, int64_t width, const Matrices<Stored>& to) const {
    for (int64_t key = keys_.first; key < keys_.end; ++key, sums += step) {
      Stored* const row = to.row(key_matrix_, key);
      for (int64_t j = 0; j < width; ++j) row[j] = static_cast<Stored>(sums[j]);
    }
  }

  const Problem<Stored>& problem_;
  const Gradients<Stored, Sum>& gradients_;
  bool wants_queries_;
  bool wants_keys_;
  int64_t widest_;
  Buffer<Sum> key_sums_;    // [key][width]
  Buffer<Sum> value_sums_;  // [key][value width]
  Buffer<Sum> query_sums_;  // [width][query], one panel after another
  Buffer<Sum> weights_;     // [key][query] of a block
  Buffer<Sum> grads_;       // of the weights, then of the scores
  Buffer<Sum> factors_;     // of dropout
  BlockWeights<E> packed_weights_;
  Buffer<Sum> spare_;
  Buffer<Packed> packed_queries_;  // transposed, one panel after another
  Buffer<Packed> packed_grads_;
  Buffer<Packed> query_rows_;
  Buffer<Packed> grad_rows_;
  Buffer<Packed> key_lines_;
  Buffer<Packed> value_lines_;
  Buffer<Packed> key_rows_;

  int64_t key_matrix_ = 0;
  Range keys_{};
  int64_t matrix_ = 0;
  int64_t first_ = 0;  // query of the block
  int64_t count_ = 0;
  int64_t lanes_ = 0;  // its queries, whole vectors
  Block<Packed> query_across_{};
  Block<Packed> grad_across_{};
  alignas(64) Sum logsumexp_[kQueries];
  alignas(64) Sum dots_[kQueries];
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native
