// Attention by tiles with an online softmax (Dao 2023), see Note [Attention tiles].
#include <algorithm>
#include <cfloat>

#include "aten/native/cuda/nn/AttentionHeads.h"
#include "aten/native/cuda/nn/AttentionKernel.h"
#include "aten/native/cuda/nn/AttentionScores.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"

namespace at::native::cuda::attention {

namespace {

template <class T>
struct ForwardProblem {
  Shape shape;
  float power_scale;  // of scores as powers of 2; positive, for queries that are negated if needed
  Heads<const T> query, key, value;
  ScoreTensors scores;
  Heads<T> out;
  float* logsumexp;  // (N, H, L)
};

/// The two tiles of keys and values, and the rows of queries before them.
template <int kWidth, int kTiles>
constexpr size_t kForwardShared =
    (kWarps * 16 * kTiles + 4 * kColumns) * kPitch<kWidth> * sizeof(uint16_t);

/// For each row, the largest score so far, and the sum of 2^(score - largest) of a lane's columns.
template <int kTiles>
struct RunningSoftmax {
  float top[kTiles][2];
  float sum[kTiles][2];

  SIMT_DEVICE RunningSoftmax() {
    SIMT_UNROLL
    for (int m = 0; m < kTiles; ++m) {
      SIMT_UNROLL
      for (int h = 0; h < 2; ++h) {
        top[m][h] = -kInfinity;
        sum[m][h] = 0;
      }
    }
  }

  /// Turns scores into weights, and shrinks the sums so far where a larger score came.
  template <int kParts, int kOutParts>
  SIMT_DEVICE void add(float (&scores)[kTiles][kParts][4], float (&out)[kTiles][kOutParts][4],
                       float scale) {
    SIMT_UNROLL
    for (int m = 0; m < kTiles; ++m) {
      SIMT_UNROLL
      for (int h = 0; h < 2; ++h) {
        const float shift = raise_top(scores[m], m, h, scale);

        float added = 0;
        SIMT_UNROLL
        for (int i = 0; i < kParts * 2; ++i) {
          float& score = scores[m][i / 2][h * 2 + i % 2];
          score = simt::exp2_approx(score * scale - shift);
          added += score;
        }
        sum[m][h] += added;

        SIMT_UNROLL
        for (int i = 0; i < kOutParts * 2; ++i) out[m][i / 2][h * 2 + i % 2] *= shrink;
      }
    }
  }

  /// The sum over the row's four lanes.
  SIMT_DEVICE float row_sum(int m, int h) const {
    float total = sum[m][h];
    total += simt::shuffle_xor(simt::kFullMask, total, 1);
    return total + simt::shuffle_xor(simt::kFullMask, total, 2);
  }

 private:
  float shrink;  // of what was summed before the present scores

  /// What is subtracted from the row's scores: the largest so far, or 0 while all were -inf.
  template <int kParts>
  SIMT_DEVICE float raise_top(const float (&scores)[kParts][4], int m, int h, float scale) {
    float larger = fmaxf(scores[0][h * 2], scores[0][h * 2 + 1]);
    SIMT_UNROLL
    for (int i = 2; i < kParts * 2; ++i) larger = fmaxf(larger, scores[i / 2][h * 2 + i % 2]);
    larger = fmaxf(larger, simt::shuffle_xor(simt::kFullMask, larger, 1));
    larger = fmaxf(larger, simt::shuffle_xor(simt::kFullMask, larger, 2));
    larger = fmaxf(larger * scale, top[m][h]);

    const float shift = larger == -kInfinity ? 0.0f : larger;
    shrink = simt::exp2_approx(top[m][h] - shift);
    sum[m][h] *= shrink;
    top[m][h] = larger;
    return shift;
  }
};

/// Hides keys that do not exist, or are later than the query, from a warp's rows.
template <int kTiles, int kParts>
SIMT_DEVICE void hide_keys(float (&scores)[kTiles][kParts][4], const Shape& shape, int first_query,
                           int first_key) {
  SIMT_UNROLL
  for (int m = 0; m < kTiles; ++m) {
    SIMT_UNROLL
    for (int h = 0; h < 2; ++h) {
      const int query = first_query + m * 16 + h * 8 + fragment_row();
      const int end = shape.causal ? std::min(shape.keys, query + 1) : shape.keys;
      const int seen = end - first_key - fragment_column();
      SIMT_UNROLL
      for (int i = 0; i < kParts * 2; ++i) {
        if (i / 2 * 8 + i % 2 >= seen) scores[m][i / 2][h * 2 + i % 2] = -kInfinity;
      }
    }
  }
}

/// Calls f with each score of a warp's rows, and the query and the key that it is of.
template <int kTiles, int kParts, class F>
SIMT_DEVICE void for_each_score(float (&scores)[kTiles][kParts][4], int first_query, int first_key,
                                const F& f) {
  SIMT_UNROLL
  for (int i = 0; i < kTiles * kParts * 4; ++i) {
    const int m = i / (kParts * 4);
    const int part = i / 4 % kParts;
    f(scores[m][part][i % 4], first_query + m * 16 + i / 2 % 2 * 8 + fragment_row(),
      first_key + part * 8 + fragment_column() + i % 2);
  }
}

/// Divides a warp's rows by their sums, and stores the logarithms of these.
template <int kTiles, int kParts, class T>
SIMT_DEVICE void finish_rows(float (&out)[kTiles][kParts][4], const RunningSoftmax<kTiles>& softmax,
                             const ForwardProblem<T>& problem, int matrix, int first_query) {
  SIMT_UNROLL
  for (int m = 0; m < kTiles; ++m) {
    SIMT_UNROLL
    for (int h = 0; h < 2; ++h) {
      const float sum = softmax.row_sum(m, h);
      const float factor = sum == 0 ? 0.0f : 1 / sum;
      SIMT_UNROLL
      for (int i = 0; i < kParts * 2; ++i) out[m][i / 2][h * 2 + i % 2] *= factor;

      const int query = first_query + m * 16 + h * 8 + fragment_row();
      if (query < problem.shape.queries && fragment_column() == 0)
        problem.logsumexp[int64_t{matrix} * problem.shape.queries + query] =
            softmax.top[m][h] * kLn2 + logf(sum);
    }
  }
}

template <class T, int kWidth, int kTiles, bool kHasScoreTensors>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kThreads) attend(ForwardProblem<T> problem) {
  constexpr int kRows = kWarps * 16 * kTiles;
  constexpr int kTile = kColumns * kPitch<kWidth>;
  const Shape& shape = problem.shape;

  // Of causal attention, the last queries have the most keys: they start first.
  const int blocks = static_cast<int>(simt::block_x());
  const int matrix = blocks % shape.matrices;
  const int row = ((shape.queries - 1) / kRows - blocks / shape.matrices) * kRows;
  const int batch = matrix / shape.heads;
  const int head = matrix % shape.heads;

  const int warp_row = static_cast<int>(simt::warp()) * 16 * kTiles;
  T* const rows = simt::dynamic_shared<T>();
  T* const warp_rows = rows + warp_row * kPitch<kWidth>;
  T* const tiles = rows + kRows * kPitch<kWidth>;

  const int end = shape.causal ? std::min(shape.keys, row + kRows) : shape.keys;
  const auto copy_tile = [&](int first_key) {
    const int head_of_keys = head / shape.group;
    T* const keys = tiles + first_key / kColumns % 2 * 2 * kTile;
    copy_rows<kColumns, kWidth>(keys, problem.key.row(batch, head_of_keys, first_key),
                                problem.key.row_stride, shape.keys - first_key, shape.width);
    copy_rows<kColumns, kWidth>(keys + kTile, problem.value.row(batch, head_of_keys, first_key),
                                problem.value.row_stride, shape.keys - first_key,
                                shape.value_width);
    simt::copy_async_commit();
  };

  copy_rows<kRows, kWidth>(rows, problem.query.row(batch, head, row), problem.query.row_stride,
                           shape.queries - row, shape.width);
  copy_tile(0);
  simt::copy_async_wait();
  simt::sync_block();

  RowFragments<T, kWidth, kTiles> queries;
  queries.load(warp_rows);
  if (shape.scale < 0) queries.negate();

  RunningSoftmax<kTiles> softmax;
  Sums<kTiles, kWidth> out;
  clear(out);

  for (int key = 0; key < end; key += kColumns) {
    // This tile has arrived, and all warps are done with the one before it.
    simt::copy_async_wait();
    simt::sync_block();
    if (key + kColumns < end) copy_tile(key + kColumns);

    const T* const keys = tiles + key / kColumns % 2 * 2 * kTile;
    Sums<kTiles, kColumns> scores;
    multiply_by_rows(scores, queries, keys);

    const int first_query = row + warp_row;
    const HeadScores of_head(problem.scores, shape, batch, head);
    if constexpr (kHasScoreTensors) {
      for_each_score(scores, first_query, key, [&](float& score, int of_query, int of_key) {
        score = of_head.masked(score * problem.power_scale, of_query, of_key);
      });
    }
    if (key + kColumns > (shape.causal ? std::min(shape.keys, first_query + 1) : shape.keys))
      hide_keys(scores, shape, first_query, key);
    softmax.add(scores, out, kHasScoreTensors ? 1.0f : problem.power_scale);
    if constexpr (kHasScoreTensors) {
      for_each_score(scores, first_query, key, [&](float& weight, int of_query, int of_key) {
        weight *= of_head.dropout(of_query, of_key);
      });
    }
    add_product<T, kWidth>(out, scores, keys + kTile);
  }

  const int first_query = row + warp_row;
  finish_rows(out, softmax, problem, matrix, first_query);
  simt::sync_warp();
  store_rows<T, kWidth, kTiles>(problem.out.row(batch, head, first_query), problem.out.row_stride,
                                shape.queries - first_query, shape.value_width, out, warp_rows);
}

template <class T>
void launch_forward(const ForwardProblem<T>& problem) {
  const int rows = problem.shape.queries;
  const int matrices = problem.shape.matrices;
  with_instance_of(
      problem.shape, rows, matrices, problem.scores, [&]<int kWidth, int kTiles, bool kHas>() {
        const int blocks = blocks_of(rows, matrices, kWarps * 16 * kTiles);
        c10::cuda::launch("scaled_dot_product_attention", &attend<T, kWidth, kTiles, kHas>,
                          dim3(static_cast<unsigned>(blocks)), dim3(kThreads),
                          kForwardShared<kWidth, kTiles>, c10::cuda::current_stream(), problem);
      });
}

}  // namespace

void forward(const AttentionArguments& given, const Tensor& out, const Tensor& logsumexp) {
  with_type_of(given.query, [&]<class T>(T) {
    // A scale of 0 is a very small one: -inf, of hidden keys, keeps its meaning.
    const Shape shape = shape_of(given);
    const ForwardProblem<T> problem{shape,
                                    std::max(std::abs(shape.scale) * kLog2e, FLT_MIN),
                                    heads_of<const T>(given.query),
                                    heads_of<const T>(given.key),
                                    heads_of<const T>(given.value),
                                    score_tensors_of(given),
                                    heads_of<T>(out),
                                    logsumexp.data_ptr<float>()};
    launch_forward(problem);
  });
}

}  // namespace at::native::cuda::attention
