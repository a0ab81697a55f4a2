// Fused attention that never stores the matrix of all scores (Dao et al. 2022): the scores of a
// block of queries and keys stay in the cache. A row keeps its largest score and the sum of
// exponentials so far; when a larger score comes, its output so far is rescaled.
#include <algorithm>
#include <cmath>
#include <optional>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/cpu/shared/RowFold.h"
#include "aten/native/cpu/shared/Tasks.h"
#include "aten/native/declarations/cpu/nn/AttentionKernel.isa.h"
#include "aten/native/nn/Attention.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/expand.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using blas::Transpose;

// Queries and keys of a block: its scores are 128 KiB of floats.
constexpr int64_t kQueries = 64;
constexpr int64_t kKeys = 512;

/// Where the matrices of a tensor (N, H, rows, columns) lie in memory.
struct Place {
  explicit Place(const Tensor& tensor)
      : heads(tensor.size(1)),
        of_batch(tensor.stride(0)),
        of_head(tensor.stride(1)),
        of_row(tensor.stride(2)),
        width(tensor.size(3)) {}

  /// The offset of a row of a matrix, counted over batches and heads.
  int64_t first(int64_t matrix, int64_t row) const {
    return matrix / heads * of_batch + matrix % heads * of_head + row * of_row;
  }

  int64_t heads, of_batch, of_head, of_row, width;
};

/// The matrices of a tensor with their data, copied if rows are not dense.
template <typename T>
struct Heads {
  explicit Heads(const Tensor& given)
      : tensor(given.stride(3) == 1 && given.stride(2) >= given.size(3) ? given
                                                                        : given.contiguous()),
        place(tensor),
        data(static_cast<T*>(tensor.data())) {}

  T* row(int64_t matrix, int64_t row) const { return data + place.first(matrix, row); }
  /// The distance between rows; a single row may have a stride smaller than its width.
  int64_t step() const { return std::max(place.of_row, place.width); }
  int64_t width() const { return place.width; }

  Tensor tensor;
  Place place;
  T* data;
};

/// A mask broadcast to the scores; each row is dense (step 1) or repeats one value (step 0).
struct Mask {
  Mask(const Tensor& given, const Tensor& query, int64_t keys) {
    if (!given.defined()) return;
    tensor = at::expand(given, {query.size(0), query.size(1), query.size(2), keys});
    if (tensor.stride(3) > 1) tensor = tensor.contiguous();
    place.emplace(tensor);
    step = tensor.stride(3);
  }

  template <typename T>
  void add_to(T* scores, int64_t n, int64_t matrix, int64_t row, int64_t key) const {
    if (!place) return;
    const T* values = static_cast<const T*>(tensor.data()) + place->first(matrix, row) + key * step;
    for (int64_t i = 0; i < n; ++i) scores[i] += values[i * step];
  }

  Tensor tensor;
  std::optional<Place> place;
  int64_t step = 0;
};

/// The larger one, or NaN if either is NaN.
template <typename T>
T larger_or_nan(T a, T b) {
  return a > b || a != a ? a : b;
}

/// The scores of blocks of queries and keys, for forward and backward.
template <typename T>
struct Scores {
  Heads<T> query, key;
  Mask mask;
  T scale;
  bool causal;
  int64_t queries = query.tensor.size(2);
  int64_t keys = key.tensor.size(2);

  /// How many of the `n` keys from `first_key` on the query at `row` sees.
  int64_t seen(int64_t row, int64_t first_key, int64_t n) const {
    return causal ? std::clamp<int64_t>(row + 1 - first_key, 0, n) : n;
  }
  /// How many keys the queries before `end` see.
  int64_t keys_before(int64_t end) const { return causal ? std::min(keys, end) : keys; }

  /// scores (count, n) = scale query keyᵀ + mask, of queries from `first` and keys from
  /// `first_key`.
  void compute(int64_t matrix, int64_t first, int64_t count, int64_t first_key, int64_t n,
               T* scores) const {
    blas::gemm<T>(Transpose::Transpose, Transpose::None, n, count, query.width(), scale,
                  key.row(matrix, first_key), key.step(), query.row(matrix, first), query.step(), 0,
                  scores, n);

    for (int64_t row = 0; row < count; ++row) {
      mask.add_to(scores + row * n, seen(first + row, first_key, n), matrix, first + row,
                  first_key);
    }
  }
};

/// The running softmax of a block of queries: the largest score and the sum of exponentials of each
/// row, over the keys so far.
template <typename T>
struct RunningSoftmax {
  T top[kQueries], sum[kQueries];

  /// Replaces the scores of a row by their exponentials, relative to the largest score so far, and
  /// rescales `out` to the same base.
  void next(int64_t row, T* scores, int64_t seen, int64_t n, T* out, int64_t width) {
    const T largest = fold(
        seen, T(-vec::kInfinity), [scores](T a, int64_t i) { return larger_or_nan(a, scores[i]); },
        larger_or_nan<T>);
    const T base = larger_or_nan(top[row], largest);
    if (base == T(-vec::kInfinity)) seen = 0;  // all keys so far are masked

    for (int64_t i = 0; i < seen; ++i) scores[i] = vec::exp(scores[i] - base);
    std::fill(scores + seen, scores + n, T(0));
    if (seen == 0) return;

    const T shrink = vec::exp(top[row] - base);
    sum[row] = sum[row] * shrink +
               fold(seen, T(0), [scores](T a, int64_t i) { return a + scores[i]; }, added<T>);
    if (out != nullptr && shrink != T(1)) {
      for (int64_t j = 0; j < width; ++j) out[j] *= shrink;
    }
    top[row] = base;
  }

  /// Divides a row of the output by the sum; fully masked rows are zero. Returns the logarithm of
  /// the sum.
  T finish(int64_t row, T* out, int64_t width) const {
    const T factor = sum[row] == T(0) ? T(0) : T(1) / sum[row];
    for (int64_t j = 0; j < width; ++j) out[j] *= factor;
    return sum[row] == T(0) ? T(-vec::kInfinity) : top[row] + vec::log(sum[row]);
  }
};

/// The output of the block of queries that begins at `first`, and their logsumexp.
template <typename T>
void attend(const Scores<T>& scores, const Heads<T>& value, const Heads<T>& out, T* logsumexp,
            int64_t matrix, int64_t first, T* buffer) {
  const int64_t count = std::min(kQueries, scores.queries - first);
  const int64_t keys = scores.keys_before(first + count);
  const int64_t width = value.width();
  RunningSoftmax<T> state;
  std::fill_n(state.top, count, T(-vec::kInfinity));
  std::fill_n(state.sum, count, T(0));

  for (int64_t key = 0; key < keys; key += kKeys) {
    const int64_t n = std::min(kKeys, keys - key);
    scores.compute(matrix, first, count, key, n, buffer);

    for (int64_t row = 0; row < count; ++row) {
      T* before = key == 0 ? nullptr : out.row(matrix, first + row);
      state.next(row, buffer + row * n, scores.seen(first + row, key, n), n, before, width);
    }

    blas::gemm<T>(Transpose::None, Transpose::None, width, count, n, 1, value.row(matrix, key),
                  value.step(), buffer, n, key == 0 ? T(0) : T(1), out.row(matrix, first),
                  out.step());
  }

  for (int64_t row = 0; row < count; ++row) {
    logsumexp[matrix * scores.queries + first + row] =
        state.finish(row, out.row(matrix, first + row), width);
  }
}

/// Adds up the gradients of query, key and value, block by block.
template <typename T>
struct Gradients {
  Heads<T> value, out, grad, grad_query, grad_key, grad_value;
  const T* logsumexp;

  /// Replaces scores by weights: exp(score - logsumexp), 0 for masked keys.
  void weigh(const Scores<T>& scores, int64_t matrix, int64_t first, int64_t count, int64_t key,
             int64_t n, T* weights) const {
    for (int64_t row = 0; row < count; ++row) {
      T* values = weights + row * n;
      const T log_sum = logsumexp[matrix * scores.queries + first + row];
      const int64_t seen = log_sum == T(-vec::kInfinity) ? 0 : scores.seen(first + row, key, n);
      for (int64_t i = 0; i < seen; ++i) values[i] = vec::exp(values[i] - log_sum);
      std::fill(values + seen, values + n, T(0));
    }
  }

  /// Replaces gradients of weights by those of scores: weight * (gradient - dot), where dot, the
  /// sum of weight * gradient over a row, equals grad · out.
  void of_scores(int64_t matrix, int64_t first, int64_t count, int64_t n, T scale, const T* weights,
                 T* gradients) const {
    for (int64_t row = 0; row < count; ++row) {
      const T* g = grad.row(matrix, first + row);
      const T* o = out.row(matrix, first + row);
      const T dot =
          fold(value.width(), T(0), [g, o](T a, int64_t i) { return a + g[i] * o[i]; }, added<T>);
#pragma GCC ivdep
      for (int64_t i = row * n; i < (row + 1) * n; ++i)
        gradients[i] = weights[i] * (gradients[i] - dot) * scale;
    }
  }

  /// Adds the contributions of one block; `weights` and `gradients` are buffers of its size.
  void add(const Scores<T>& scores, int64_t matrix, int64_t first, int64_t key, T* weights,
           T* gradients) const {
    const int64_t count = std::min(kQueries, scores.queries - first);
    const int64_t n = std::min(kKeys, scores.keys_before(first + count) - key);
    const int64_t width = value.width();
    const int64_t size = scores.query.width();

    scores.compute(matrix, first, count, key, n, weights);
    weigh(scores, matrix, first, count, key, n, weights);

    // grad_value += weightsᵀ grad
    blas::gemm<T>(Transpose::None, Transpose::Transpose, width, n, count, 1,
                  grad.row(matrix, first), grad.step(), weights, n, 1, grad_value.row(matrix, key),
                  grad_value.step());

    // grad_scores, from grad valueᵀ
    blas::gemm<T>(Transpose::Transpose, Transpose::None, n, count, width, 1, value.row(matrix, key),
                  value.step(), grad.row(matrix, first), grad.step(), 0, gradients, n);
    of_scores(matrix, first, count, n, scores.scale, weights, gradients);

    // grad_query += grad_scores key
    blas::gemm<T>(Transpose::None, Transpose::None, size, count, n, 1, scores.key.row(matrix, key),
                  scores.key.step(), gradients, n, 1, grad_query.row(matrix, first),
                  grad_query.step());

    // grad_key += grad_scoresᵀ query
    blas::gemm<T>(Transpose::None, Transpose::Transpose, size, n, count, 1,
                  scores.query.row(matrix, first), scores.query.step(), gradients, n, 1,
                  grad_key.row(matrix, key), grad_key.step());
  }
};

/// Zeros for the gradient of a tensor, in the tensor's order in memory if that leaves rows dense.
Tensor zeros_for(const Tensor& tensor) {
  const DimVector strides = strides_in_order_of(tensor);
  const bool dense = strides[3] == 1 && strides[2] >= tensor.size(3);
  const Tensor result =
      dense ? empty_strided_tensor(tensor.sizes(), strides, tensor.scalar_type(), tensor.device())
            : empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
  return result.zero_();
}

}  // namespace

void fused_attention_kernel(const Tensor& query, const Tensor& key, const Tensor& value, double,
                            bool is_causal, const Tensor& attn_mask, std::optional<double> scale,
                            const Tensor& output, const Tensor& logsumexp) {
  AT_DISPATCH_FLOATING(query.scalar_type(), "scaled_dot_product_attention", [&] {
    const Scores<scalar_t> scores{Heads<scalar_t>(query), Heads<scalar_t>(key),
                                  Mask(attn_mask, query, key.size(2)),
                                  static_cast<scalar_t>(attention_scale(query, scale)), is_causal};
    const Heads<scalar_t> values(value);
    const Heads<scalar_t> out(output);

    // A task is a block of queries of one matrix.
    const int64_t blocks = (scores.queries + kQueries - 1) / kQueries;
    const int64_t matrices = query.size(0) * query.size(1);
    const int64_t products =
        std::min(kQueries, scores.queries) * scores.keys * (query.size(3) + value.size(3));
    for_tasks(matrices * blocks, products, [&](int64_t begin, int64_t end) {
      const Scratch<scalar_t> buffer(kQueries * std::min(kKeys, scores.keys));
      for (int64_t task = begin; task < end; ++task) {
        attend(scores, values, out, logsumexp.data_ptr<scalar_t>(), task / blocks,
               task % blocks * kQueries, buffer.data());
      }
    });
  });
}

std::tuple<Tensor, Tensor, Tensor>
fused_attention_backward_kernel(const Tensor& grad_out, const Tensor& query, const Tensor& key,
                                const Tensor& value, const Tensor& out, const Tensor& logsumexp,
                                double dropout_p, bool is_causal, const Tensor& attn_mask,
                                std::optional<double> scale) {
  if (!grad_out.defined()) return {};  // only logsumexp was used
  check_fused_attention(query, key, value, dropout_p, attn_mask);
  check_fused_results(query, value, grad_out, out, logsumexp);

  const Tensor grad_query = zeros_for(query);
  const Tensor grad_key = zeros_for(key);
  const Tensor grad_value = zeros_for(value);
  const Tensor sums = logsumexp.contiguous();

  AT_DISPATCH_FLOATING(query.scalar_type(), "scaled_dot_product_attention_backward", [&] {
    using Matrices = Heads<scalar_t>;
    const Scores<scalar_t> scores{Matrices(query), Matrices(key),
                                  Mask(attn_mask, query, key.size(2)),
                                  static_cast<scalar_t>(attention_scale(query, scale)), is_causal};
    const Gradients<scalar_t> gradients{Matrices(value),
                                        Matrices(out),
                                        Matrices(grad_out),
                                        Matrices(grad_query),
                                        Matrices(grad_key),
                                        Matrices(grad_value),
                                        sums.const_data_ptr<scalar_t>()};

    // A task is one matrix: all of its queries add to the gradients of the same keys.
    const int64_t products = 5 * scores.queries * scores.keys * query.size(3);
    const int64_t n = std::min(kKeys, scores.keys);
    for_tasks(query.size(0) * query.size(1), products, [&](int64_t begin, int64_t end) {
      const Scratch<scalar_t> buffer(2 * kQueries * n);
      for (int64_t matrix = begin; matrix < end; ++matrix) {
        for (int64_t first = 0; first < scores.queries; first += kQueries) {
          const int64_t keys_seen = scores.keys_before(std::min(first + kQueries, scores.queries));
          for (int64_t k = 0; k < keys_seen; k += kKeys) {
            gradients.add(scores, matrix, first, k, buffer.data(), buffer.data() + kQueries * n);
          }
        }
      }
    });
  });

  return {grad_query, grad_key, grad_value};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
