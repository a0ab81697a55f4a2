// The gradients of attention by tiles, in the same order at every run: see Note [Attention tiles].
#include <algorithm>

#include "aten/native/cuda/nn/AttentionHeads.h"
#include "aten/native/cuda/nn/AttentionKernel.h"
#include "aten/native/cuda/nn/AttentionScores.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"

namespace at::native::cuda::attention {

namespace {

// Note [Gradients of attention]
// With the weights P = exp(S - logsumexp) and the gradient of the output G,
//   grad_value = Pᵀ G,   dS = P * (G Vᵀ - sum(G * output)),   grad_key = dSᵀ Q,   grad_query = dS
//   K.
// Blocks that own keys compute Sᵀ = K Qᵀ and V Gᵀ, so that Pᵀ and dSᵀ are A fragments of the
// products that follow; they go through the queries of all heads that share the keys. Blocks that
// own queries compute S = Q Kᵀ and G Vᵀ for grad_query. So every gradient has one block that adds
// it up, in registers. Both are one kernel: what a block owns are its rows, of which `first` is
// query or key and `second` is G or value; the other side are its columns.

/// What the weights and their gradients need to know of a query.
struct QuerySums {
  float logsumexp;  // of base 2; inf for a query without weights
  float products;   // sum(G * output)
};

/// Rows of QuerySums are padded to a multiple of this.
constexpr int kPaddedQueries = 128;

template <class T>
struct BackwardProblem {
  Shape shape;
  Heads<const T> query, key, value, grad_out;
  const QuerySums* sums;  // (N, H, padded)
  int padded;
  ScoreTensors scores;
  Heads<T> grad_query, grad_key, grad_value;
};

template <class T>
struct SumsProblem {
  Shape shape;
  Heads<const T> out, grad_out;
  const float* logsumexp;
  QuerySums* sums;
  int padded;
};

template <class T>
struct alignas(16) Elements {
  T values[8];
};

/// 16 lanes for each query.
template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) sum_queries(SumsProblem<T> problem) {
  const Shape& shape = problem.shape;
  const int thread = static_cast<int>(simt::thread_x());
  const int64_t index = int64_t{simt::block_x()} * (kThreads / 16) + thread / 16;
  const int matrix = static_cast<int>(index / problem.padded);
  const int query = static_cast<int>(index % problem.padded);
  const int column = thread % 16 * 8;

  float sum = 0;
  if (query < shape.queries && column < shape.value_width) {
    const int batch = matrix / shape.heads;
    const int head = matrix % shape.heads;
    const T* const out = problem.out.row(batch, head, query) + column;
    const T* const grad = problem.grad_out.row(batch, head, query) + column;
    const auto a = *reinterpret_cast<const Elements<T>*>(out);
    const auto b = *reinterpret_cast<const Elements<T>*>(grad);
    SIMT_UNROLL
    for (int i = 0; i < 8; ++i)
      sum += static_cast<float>(a.values[i]) * static_cast<float>(b.values[i]);
  }
  SIMT_UNROLL
  for (unsigned step = 8; step > 0; step /= 2)
    sum += simt::shuffle_xor(simt::kFullMask, sum, step, 16);
  if (column != 0) return;

  float logsumexp = kInfinity;
  if (query < shape.queries) logsumexp = problem.logsumexp[int64_t{matrix} * shape.queries + query];
  problem.sums[index] = {logsumexp == -kInfinity ? kInfinity : logsumexp * kLog2e, sum};
}

/// The rows' sums are in registers, those of columns in shared memory.
template <class T, int kWidth, int kTiles, bool kOwnsKeys, bool kHasScoreTensors>
class Gradients {
 public:
  static constexpr int kRows = kWarps * 16 * kTiles;
  static constexpr int kTile = kColumns * kPitch<kWidth>;
  // Scores that exist at the same time: wide heads leave fewer registers.
  static constexpr int kStep = kWidth == 64 && (kTiles == 1 || !kOwnsKeys) ? 32 : 16;
  static constexpr size_t kShared =
      (2 * kRows * kPitch<kWidth> + 4 * kTile) * sizeof(T) + 2 * kColumns * sizeof(QuerySums);
  static_assert(kShared <= kMostSharedMemory);

  SIMT_DEVICE explicit Gradients(const BackwardProblem<T>& given)
      : problem(given), shape(given.shape) {
    const int blocks = static_cast<int>(simt::block_x());
    const int matrices = kOwnsKeys ? shape.matrices / shape.group : shape.matrices;
    const int heads = kOwnsKeys ? shape.key_heads() : shape.heads;
    const int matrix = blocks % matrices;
    batch = matrix / heads;
    head = matrix % heads;

    // Of causal attention, the first keys and the last queries have most to do: they start first.
    const int tile = blocks / matrices;
    const int count = kOwnsKeys ? shape.keys : shape.queries;
    row = (kOwnsKeys ? tile : (count - 1) / kRows - tile) * kRows;
    rows_left = count - row;

    first_rows = simt::dynamic_shared<T>();
    second_rows = first_rows + kRows * kPitch<kWidth>;
    tiles = second_rows + kRows * kPitch<kWidth>;
    column_sums = reinterpret_cast<QuerySums*>(tiles + 4 * kTile);
    warp_row = static_cast<int>(simt::warp()) * 16 * kTiles;
  }

  SIMT_DEVICE void run() {
    copy_own_rows();
    const int tile_count = count_tiles();
    if (tile_count > 0) copy_tile(0);
    simt::copy_async_wait();
    simt::sync_block();

    first.load(first_rows + warp_row * kPitch<kWidth>);
    second.load(second_rows + warp_row * kPitch<kWidth>);
    if constexpr (!kOwnsKeys) load_row_sums();
    clear(grad_first);
    clear(grad_second);

    for (int tile = 0; tile < tile_count; ++tile) {
      // This tile has arrived, and all warps are done with the one before it.
      simt::copy_async_wait();
      simt::sync_block();
      if (tile + 1 < tile_count) copy_tile(tile + 1);

      const int column = column_of(tile);
      const HeadScores scores(problem.scores, shape, batch, kOwnsKeys ? head_of(tile) : head);
      for (int step = 0; step < kColumns; step += kStep)
        add_columns(tile % 2, step, column + step, scores);
    }
    store();
  }

 private:
  /// Causal blocks of keys begin with the tile of queries that has the first of them.
  SIMT_DEVICE int first_tile() const {
    return kOwnsKeys && shape.causal
               ? std::min(row, (shape.queries - 1) / kColumns * kColumns) / kColumns
               : 0;
  }
  SIMT_DEVICE int tiles_of_head() const {
    const int count = kOwnsKeys      ? shape.queries
                      : shape.causal ? std::min(shape.keys, row + kRows)
                                     : shape.keys;
    return (count - 1) / kColumns + 1 - first_tile();
  }
  SIMT_DEVICE int count_tiles() const { return tiles_of_head() * (kOwnsKeys ? shape.group : 1); }

  /// The head of queries, for blocks of keys, and the first column of a tile.
  SIMT_DEVICE int head_of(int tile) const { return head * shape.group + tile / tiles_of_head(); }
  SIMT_DEVICE int column_of(int tile) const {
    return (first_tile() + tile % tiles_of_head()) * kColumns;
  }

  SIMT_DEVICE void copy_own_rows() {
    const Heads<const T>& a = kOwnsKeys ? problem.key : problem.query;
    const Heads<const T>& b = kOwnsKeys ? problem.value : problem.grad_out;
    copy_rows<kRows, kWidth>(first_rows, a.row(batch, head, row), a.row_stride, rows_left,
                             shape.width);
    copy_rows<kRows, kWidth>(second_rows, b.row(batch, head, row), b.row_stride, rows_left,
                             shape.value_width);
  }

  SIMT_DEVICE void copy_tile(int tile) {
    const int column = column_of(tile);
    const int left = (kOwnsKeys ? shape.queries : shape.keys) - column;
    const int of_head = kOwnsKeys ? head_of(tile) : head / shape.group;
    const Heads<const T>& a = kOwnsKeys ? problem.query : problem.key;
    const Heads<const T>& b = kOwnsKeys ? problem.grad_out : problem.value;

    T* const to = tiles + tile % 2 * 2 * kTile;
    copy_rows<kColumns, kWidth>(to, a.row(batch, of_head, column), a.row_stride, left, shape.width);
    copy_rows<kColumns, kWidth>(to + kTile, b.row(batch, of_head, column), b.row_stride, left,
                                shape.value_width);
    if constexpr (kOwnsKeys) {
      const int thread = static_cast<int>(simt::thread_x());
      const QuerySums* const from = sums_of(of_head) + column;
      if (thread < kColumns / 2)
        simt::copy_async<16>(column_sums + tile % 2 * kColumns + thread * 2, from + thread * 2);
    }
    simt::copy_async_commit();
  }

  SIMT_DEVICE const QuerySums* sums_of(int head_of_queries) const {
    return problem.sums + (int64_t{batch} * shape.heads + head_of_queries) * problem.padded;
  }

  SIMT_DEVICE void load_row_sums() {
    const QuerySums* const from = sums_of(head) + row + warp_row + fragment_row();
    SIMT_UNROLL
    for (int i = 0; i < kTiles * 2; ++i) row_sums[i] = from[i * 8];
  }

  /// Adds to the gradients what kStep columns contribute, which begin at `step` of a stage.
  SIMT_DEVICE void add_columns(int stage, int step, int column, const HeadScores& scores) {
    const T* const first_columns = tiles + stage * 2 * kTile + step * kPitch<kWidth>;
    const T* const second_columns = first_columns + kTile;

    Sums<kTiles, kStep> weights, grads;
    multiply_by_rows(weights, first, first_columns);
    multiply_by_rows(grads, second, second_columns);
    weigh(weights, grads, column_sums + stage * kColumns + step, column, scores);

    if constexpr (kOwnsKeys) add_product<T, kWidth>(grad_second, weights, second_columns);
    add_product<T, kWidth>(grad_first, grads, first_columns);
  }

  /// Turns scores into weights, and the gradients of weights into those of scores.
  SIMT_DEVICE void weigh(Sums<kTiles, kStep>& weights, Sums<kTiles, kStep>& grads,
                         const QuerySums* sums_of_columns, int column,
                         const HeadScores& scores) const {
    const float power_scale = shape.scale * kLog2e;
    const bool hides = hides_some(column);

    SIMT_UNROLL
    for (int i = 0; i < kTiles * kStep / 2; ++i) {
      const int m = i / (kStep / 2);
      const int part = i / 4 % (kStep / 8);
      const int half = m * 2 + i / 2 % 2;
      const int in_step = part * 8 + fragment_column() + i % 2;
      const QuerySums sums = kOwnsKeys ? sums_of_columns[in_step] : row_sums[half];

      const int at_row = row + warp_row + half * 8 + fragment_row();
      const int at_column = column + in_step;
      const int query = kOwnsKeys ? at_column : at_row;
      const int key = kOwnsKeys ? at_row : at_column;

      float& weight = weights[m][part][i % 4];
      float& grad = grads[m][part][i % 4];
      weight *= power_scale;
      if constexpr (kHasScoreTensors) weight = scores.masked(weight, query, key);
      weight = simt::exp2_approx(weight - sums.logsumexp);
      if (hides && is_hidden(query, key)) weight = 0;

      const float dropout = kHasScoreTensors ? scores.dropout(query, key) : 1.0f;
      grad = weight * (grad * dropout - sums.products);
      weight *= dropout;
    }
  }

  /// Whether the warp's rows and the columns of a step have scores that do not count.
  SIMT_DEVICE bool hides_some(int column) const {
    if (kOwnsKeys) return shape.causal && column < row + warp_row + kTiles * 16 - 1;
    return column + kStep > (shape.causal ? std::min(shape.keys, row + warp_row + 1) : shape.keys);
  }
  SIMT_DEVICE bool is_hidden(int query, int key) const {
    return key >= shape.keys || (shape.causal && key > query);
  }

  SIMT_DEVICE void store() {
    SIMT_UNROLL
    for (auto& parts : grad_first) {
      SIMT_UNROLL
      for (auto& part : parts) {
        SIMT_UNROLL
        for (float& sum : part) sum *= shape.scale;
      }
    }

    const Heads<T>& a = kOwnsKeys ? problem.grad_key : problem.grad_query;
    store_rows<T, kWidth, kTiles>(a.row(batch, head, row + warp_row), a.row_stride,
                                  rows_left - warp_row, shape.width, grad_first,
                                  first_rows + warp_row * kPitch<kWidth>);
    if constexpr (kOwnsKeys) {
      const Heads<T>& b = problem.grad_value;
      store_rows<T, kWidth, kTiles>(b.row(batch, head, row + warp_row), b.row_stride,
                                    rows_left - warp_row, shape.value_width, grad_second,
                                    second_rows + warp_row * kPitch<kWidth>);
    }
  }

  const BackwardProblem<T>& problem;
  const Shape& shape;
  int batch, head;
  int row;       // the block's first
  int warp_row;  // the warp's first, in the block
  int rows_left;

  // Shared memory: the rows, two stages of tiles, and of the sums of their queries.
  T* first_rows;
  T* second_rows;
  T* tiles;
  QuerySums* column_sums;

  RowFragments<T, kWidth, kTiles> first, second;
  QuerySums row_sums[kTiles * 2];
  Sums<kTiles, kWidth> grad_first;
  Sums<kTiles, kWidth> grad_second;
};

template <class T, int kWidth, int kTiles, bool kOwnsKeys, bool kHasScoreTensors>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) gradients_of_rows(BackwardProblem<T> problem) {
  Gradients<T, kWidth, kTiles, kOwnsKeys, kHasScoreTensors>(problem).run();
}

template <bool kOwnsKeys, class T>
void launch_gradients(const BackwardProblem<T>& problem) {
  const Shape& shape = problem.shape;
  const int rows = kOwnsKeys ? shape.keys : shape.queries;
  const int matrices = kOwnsKeys ? shape.matrices / shape.group : shape.matrices;

  with_instance_of(shape, rows, matrices, problem.scores, [&]<int kWidth, int kTiles, bool kHas>() {
    using Block = Gradients<T, kWidth, kTiles, kOwnsKeys, kHas>;
    const int blocks = blocks_of(rows, matrices, Block::kRows);
    c10::cuda::launch("scaled_dot_product_attention_backward",
                      &gradients_of_rows<T, kWidth, kTiles, kOwnsKeys, kHas>,
                      dim3(static_cast<unsigned>(blocks)), dim3(kThreads), Block::kShared,
                      c10::cuda::current_stream(), problem);
  });
}

template <class T>
void launch_sums(const SumsProblem<T>& problem) {
  constexpr int64_t kQueries = kThreads / 16;
  const int64_t blocks = int64_t{problem.shape.matrices} * problem.padded / kQueries;
  c10::cuda::launch("scaled_dot_product_attention_backward", &sum_queries<T>,
                    dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0,
                    c10::cuda::current_stream(), problem);
}

}  // namespace

void backward(const AttentionArguments& given, const Tensor& grad_out, const Tensor& out,
              const Tensor& logsumexp, const AttentionGradients& gradients) {
  const Shape shape = shape_of(given);
  const int padded = ((shape.queries - 1) / kPaddedQueries + 1) * kPaddedQueries;
  const Tensor sums = empty_tensor({shape.matrices, padded, 2}, kFloat, given.query.device());
  auto* const query_sums = reinterpret_cast<QuerySums*>(sums.data_ptr<float>());

  with_type_of(given.query, [&]<class T>(T) {
    launch_sums(SumsProblem<T>{shape, heads_of<const T>(out), heads_of<const T>(grad_out),
                               logsumexp.const_data_ptr<float>(), query_sums, padded});

    const BackwardProblem<T> problem{shape,
                                     heads_of<const T>(given.query),
                                     heads_of<const T>(given.key),
                                     heads_of<const T>(given.value),
                                     heads_of<const T>(grad_out),
                                     query_sums,
                                     padded,
                                     score_tensors_of(given),
                                     heads_of<T>(gradients.query),
                                     heads_of<T>(gradients.key),
                                     heads_of<T>(gradients.value)};
    launch_gradients<true>(problem);
    launch_gradients<false>(problem);
  });
}

}  // namespace at::native::cuda::attention
