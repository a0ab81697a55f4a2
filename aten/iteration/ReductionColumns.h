#pragma once
// Reductions whose results are next to each other in memory: columns of rows, read row by row.
#include <algorithm>
#include <memory>

#include "aten/iteration/ReductionDims.h"
#include "aten/iteration/ReductionOrder.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Reduces neighbouring columns over a range of rows, so that each row is read contiguously. The
/// accumulators of a block stay in the first-level cache; rows are taken four at a time to spare
/// loads of the accumulators.
template <typename Ops>
class ColumnBlock {
 public:
  using acc_t = typename Ops::acc_t;
  using input_t = typename Ops::input_t;
  static constexpr int64_t kWidth =
      std::max<int64_t>(32, 1024 / static_cast<int64_t>(sizeof(acc_t)));
  static constexpr int64_t kRows = 64;  // rows per chunk, then chunks combine as a binary counter

  ColumnBlock(const Ops& ops, int64_t width) : ops_(ops), width_(width) {}

  /// totals[j] of rows [begin, end).
  void reduce(const ReductionDims& dims, const char* in, int64_t begin, int64_t end,
              acc_t* totals) {
    RowWalk walk(dims, in, begin);
    if (end - begin <= kRows) return reduce_chunk(dims, walk, end - begin, totals);

    chunks_ = 0;
    for (int64_t row = begin; row < end; row += kRows) {
      reduce_chunk(dims, walk, std::min(end - row, kRows), acc_);
      push();
    }

    for (int64_t j = 0; j < width_; ++j) totals[j] = ops_.identity();
    for (int level = 0; level < kColumnLevels; ++level) {
      if (((chunks_ >> level) & 1) == 0) continue;
      for (int64_t j = 0; j < width_; ++j) totals[j] = ops_.combine(levels_[level][j], totals[j]);
    }
  }

 private:
  static constexpr int kColumnLevels = 24;

  /// totals[j] of the next rows of `walk`, at most kRows.
  void reduce_chunk(const ReductionDims& dims, RowWalk& walk, int64_t rows, acc_t* totals) {
    for (int64_t j = 0; j < width_; ++j) totals[j] = ops_.identity();
    while (rows > 0) {
      const int64_t run = std::min(rows, walk.left());
      add_run(walk.address(), dims.reduced_stride[0], run, totals);
      walk.advance(run);
      rows -= run;
    }
  }

  void add_run(const char* row, int64_t stride, int64_t rows, acc_t* acc) {
    const int64_t width = width_;
    const auto at = [&](int64_t r) { return reinterpret_cast<const input_t*>(row + r * stride); };

    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const input_t* a = at(r);
      const input_t* b = at(r + 1);
      const input_t* c = at(r + 2);
      const input_t* d = at(r + 3);
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j)
        acc[j] = ops_.reduce(ops_.reduce(ops_.reduce(ops_.reduce(acc[j], a[j]), b[j]), c[j]), d[j]);
    }

    for (; r < rows; ++r) {
      const input_t* a = at(r);
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) acc[j] = ops_.reduce(acc[j], a[j]);
    }
  }

  /// Adds the accumulators to the binary counter of chunk results, with carry.
  void push() {
    int level = 0;
    for (; (chunks_ >> level) & 1; ++level) {
      for (int64_t j = 0; j < width_; ++j) acc_[j] = ops_.combine(levels_[level][j], acc_[j]);
    }
    level = std::min(level, kColumnLevels - 1);
    for (int64_t j = 0; j < width_; ++j) levels_[level][j] = acc_[j];
    ++chunks_;
  }

  const Ops ops_;
  const int64_t width_;
  uint64_t chunks_ = 0;
  alignas(64) acc_t acc_[kWidth];
  acc_t levels_[kColumnLevels][kWidth];
};

/// How the columns of a reduction are cut into tasks: blocks of columns and, where columns are
/// long, pieces of a block. The cut depends on sizes only, and so does the result.
template <typename Ops>
struct ColumnTasks {
  static constexpr int64_t kWidth = ColumnBlock<Ops>::kWidth;

  explicit ColumnTasks(const ReductionDims& dims)
      : row(dims.kept_size[0]),
        blocks((row + kWidth - 1) / kWidth),
        widest(std::min(row, kWidth)),
        piece(std::max<int64_t>(ColumnBlock<Ops>::kRows, kPiece / widest)),
        pieces((dims.reduced + piece - 1) / piece),
        outputs(dims.kept / row * blocks) {}

  /// The first result of a block, counted along the kept dimensions.
  int64_t first_of(int64_t block) const { return block / blocks * row + block % blocks * kWidth; }
  int64_t width_of(int64_t block) const { return std::min(kWidth, row - block % blocks * kWidth); }

  int64_t row;      // results next to each other
  int64_t blocks;   // blocks in such a row
  int64_t widest;   // columns of the widest block
  int64_t piece;    // elements of a column in one task
  int64_t pieces;   // tasks of a column
  int64_t outputs;  // blocks in all
};

template <typename Ops>
void reduce_all_columns(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  using acc_t = typename Ops::acc_t;
  const ColumnTasks<Ops> tasks(dims);
  const int64_t pieces = tasks.pieces;
  const int64_t widest = tasks.widest;

  using output_t = typename Ops::output_t;
  const int64_t out_step = dims.kept_stride_out[0];
  const auto store = [&](int64_t block, const acc_t* values, int64_t width) {
    const int64_t first = tasks.first_of(block);
    char* target = out + offset_of(first, dims.kept_size, dims.kept_stride_out);
    if (out_step == int64_t{sizeof(output_t)}) {
      auto* results = reinterpret_cast<output_t*>(target);
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) results[j] = ops.project(values[j]);
    } else {
      for (int64_t j = 0; j < width; ++j)
        *reinterpret_cast<output_t*>(target + j * out_step) = ops.project(values[j]);
    }
  };

  // Results of pieces, which are combined below; a block of one piece is stored at once.
  const auto totals = std::make_unique_for_overwrite<acc_t[]>(
      pieces > 1 ? static_cast<size_t>(tasks.outputs * pieces * widest) : 0);
  const int64_t task_cost = std::min(tasks.piece, dims.reduced) * widest;
  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / task_cost);
  parallel_for(0, tasks.outputs * pieces, grain, [&](int64_t begin, int64_t end) {
    acc_t values[ColumnBlock<Ops>::kWidth];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / pieces;
      const int64_t first = task % pieces * tasks.piece;
      const int64_t last = std::min(dims.reduced, first + tasks.piece);
      const int64_t width = tasks.width_of(block);

      const char* source =
          in + offset_of(tasks.first_of(block), dims.kept_size, dims.kept_stride_in);
      acc_t* target = pieces > 1 ? totals.get() + task * widest : values;
      ColumnBlock<Ops>(ops, width).reduce(dims, source, first, last, target);
      if (pieces == 1) store(block, target, width);
    }
  });

  for (int64_t block = 0; pieces > 1 && block < tasks.outputs; ++block) {
    acc_t* parts = totals.get() + block * pieces * widest;
    const int64_t width = tasks.width_of(block);
    for (int64_t step = 1; step < pieces; step *= 2) {
      for (int64_t p = 0; p + step < pieces; p += 2 * step) {
        acc_t* a = parts + p * widest;
        const acc_t* b = parts + (p + step) * widest;
        for (int64_t j = 0; j < width; ++j) a[j] = ops.combine(a[j], b[j]);
      }
    }
    store(block, parts, width);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
