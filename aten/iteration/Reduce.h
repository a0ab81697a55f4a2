#pragma once
// Loops of reductions on CPU; see Loops.h for the CPU_CAPABILITY namespace.
#include <algorithm>
#include <memory>

#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Reduction order]
// The order of additions depends on the shape only, never on the number of threads: elements go to
// kLanes accumulators, these are folded every kChunk elements, and chunk results are combined
// pairwise like a binary counter. The error of a float sum therefore grows with log(n). Long single
// reductions are cut into pieces of kPiece elements, which threads share out.
constexpr int64_t kLanes = 32;
constexpr int64_t kChunk = 4096;
constexpr int64_t kPiece = 65536;
constexpr int kLevels = 40;

/// The dimensions of a reduction: sizes and byte strides of what is kept and of what is reduced,
/// fastest first.
struct ReductionDims {
  explicit ReductionDims(const TensorIteratorBase& iter) {
    for (int d = 0; d < iter.dim(); ++d) {
      const bool is_reduced = iter.strides(0)[d] == 0 && iter.shape()[d] != 1;
      if (is_reduced) {
        reduced_size.push_back(iter.shape()[d]);
        reduced_stride.push_back(iter.strides(1)[d]);
        reduced *= iter.shape()[d];
      } else {
        kept_size.push_back(iter.shape()[d]);
        kept_stride_out.push_back(iter.strides(0)[d]);
        kept_stride_in.push_back(iter.strides(1)[d]);
        kept *= iter.shape()[d];
      }
    }
    fastest_is_kept = iter.dim() > 1 && (iter.strides(0)[0] != 0 || iter.shape()[0] == 1);
  }

  DimVector kept_size, kept_stride_out, kept_stride_in, reduced_size, reduced_stride;
  int64_t kept = 1;
  int64_t reduced = 1;
  bool fastest_is_kept = false;
};

inline int64_t offset_of(int64_t index, const DimVector& sizes, const DimVector& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    offset += index % sizes[d] * strides[d];
    index /= sizes[d];
  }
  return offset;
}

/// Accumulates rows of elements in the order of Note [Reduction order].
template <typename Ops>
class Cascade {
 public:
  using input_t = typename Ops::input_t;
  using acc_t = typename Ops::acc_t;

  explicit Cascade(const Ops& ops) : ops_(ops) { clear_lanes(); }

  void feed(const input_t* row, int64_t n) {
    while (n > 0) {
      const int64_t count = std::min(n, kChunk - filled_);
      feed_lanes(row, count);
      filled_ += count;
      row += count;
      n -= count;
      if (filled_ == kChunk) push_chunk();
    }
  }

  void feed_strided(const char* row, int64_t stride, int64_t n) {
    if (stride == static_cast<int64_t>(sizeof(input_t)))
      return feed(reinterpret_cast<const input_t*>(row), n);
    alignas(64) char block[256 * sizeof(input_t)];
    for (int64_t start = 0; start < n; start += 256) {
      const int64_t count = std::min<int64_t>(256, n - start);
      gather(block, row + start * stride, stride, sizeof(input_t), count);
      feed(reinterpret_cast<const input_t*>(block), count);
    }
  }

  acc_t result() {
    acc_t total = fold_lanes();
    for (int level = 0; level < kLevels; ++level) {
      if ((chunks_ >> level) & 1) total = ops_.combine(levels_[level], total);
    }
    return total;
  }

 private:
  void clear_lanes() {
    for (int64_t j = 0; j < kLanes; ++j) lanes_[j] = ops_.identity();
    filled_ = 0;
  }
  void feed_lanes(const input_t* row, int64_t n) {
    acc_t lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = lanes_[j];
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] = ops_.reduce(lanes[j], row[i + j]);
    }
    for (int64_t j = 0; i < n; ++i, ++j) lanes[j] = ops_.reduce(lanes[j], row[i]);
    for (int64_t j = 0; j < kLanes; ++j) lanes_[j] = lanes[j];
  }
  acc_t fold_lanes() {
    acc_t lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = lanes_[j];
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t j = 0; j < width; ++j) lanes[j] = ops_.combine(lanes[j], lanes[j + width]);
    }
    return lanes[0];
  }
  void push_chunk() {
    acc_t value = fold_lanes();
    int level = 0;
    for (; (chunks_ >> level) & 1; ++level) value = ops_.combine(levels_[level], value);
    levels_[level] = value;
    ++chunks_;
    clear_lanes();
  }

  const Ops& ops_;
  acc_t lanes_[kLanes];
  acc_t levels_[kLevels];
  uint64_t chunks_ = 0;
  int64_t filled_ = 0;
};

/// Reduces elements [begin, end) of the reduced dimensions, starting at `in`.
template <typename Ops>
typename Ops::acc_t reduce_range(const Ops& ops, const ReductionDims& dims, const char* in,
                                 int64_t begin, int64_t end) {
  Cascade<Ops> cascade(ops);
  if (dims.reduced_size.empty()) {
    cascade.feed(reinterpret_cast<const typename Ops::input_t*>(in), end - begin);
    return cascade.result();
  }
  const int64_t row_size = dims.reduced_size[0];
  while (begin < end) {
    const int64_t run = std::min(row_size - begin % row_size, end - begin);
    cascade.feed_strided(in + offset_of(begin, dims.reduced_size, dims.reduced_stride),
                         dims.reduced_stride[0], run);
    begin += run;
  }
  return cascade.result();
}

/// One long reduction: pieces on several threads, combined pairwise in order.
template <typename Ops>
typename Ops::acc_t reduce_in_pieces(const Ops& ops, const ReductionDims& dims, const char* in) {
  if (dims.reduced <= kPiece) return reduce_range(ops, dims, in, 0, dims.reduced);
  const int64_t pieces = (dims.reduced + kPiece - 1) / kPiece;
  // Not a vector: one of bool has several elements in a byte, which threads must not share.
  const auto partial =
      std::make_unique_for_overwrite<typename Ops::acc_t[]>(static_cast<size_t>(pieces));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      partial[p] =
          reduce_range(ops, dims, in, p * kPiece, std::min(dims.reduced, (p + 1) * kPiece));
    }
  });
  for (int64_t step = 1; step < pieces; step *= 2) {
    for (int64_t p = 0; p + step < pieces; p += 2 * step)
      partial[p] = ops.combine(partial[p], partial[p + step]);
  }
  return partial[0];
}

/// Walks along the reduced dimensions in runs of the fastest of them, whose rows lie equally far
/// apart.
class RowWalk {
 public:
  RowWalk(const ReductionDims& dims, const char* in, int64_t begin)
      : dims_(dims), in_(in), row_(begin) {}
  int64_t left() const { return dims_.reduced_size[0] - row_ % dims_.reduced_size[0]; }
  const char* address() const {
    return in_ + offset_of(row_, dims_.reduced_size, dims_.reduced_stride);
  }
  void advance(int64_t rows) { row_ += rows; }

 private:
  const ReductionDims& dims_;
  const char* in_;
  int64_t row_;
};

/// Sums (or what Ops makes) of neighbouring columns over a range of rows, so that each row is read
/// contiguously. The accumulators of a block stay in the first-level cache; rows are taken four at
/// a time to spare their loads.
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
    chunks_ = 0;
    for (int64_t row = begin; row < end; row += kRows) {
      for (int64_t j = 0; j < width_; ++j) acc_[j] = ops_.identity();
      for (int64_t rows = std::min(end - row, kRows); rows > 0;) {
        const int64_t run = std::min(rows, walk.left());
        add_run(walk.address(), dims.reduced_stride[0], run);
        walk.advance(run);
        rows -= run;
      }
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

  void add_run(const char* row, int64_t stride, int64_t rows) {
    const int64_t width = width_;
    acc_t* acc = acc_;
    const auto at = [&](int64_t r) { return reinterpret_cast<const input_t*>(row + r * stride); };
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const input_t *a = at(r), *b = at(r + 1), *c = at(r + 2), *d = at(r + 3);
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

/// Blocks of columns and, where columns are long, pieces of them: how they are cut depends on sizes
/// only.
template <typename Ops>
void reduce_all_columns(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  using acc_t = typename Ops::acc_t;
  constexpr int64_t kWidth = ColumnBlock<Ops>::kWidth;
  const int64_t row = dims.kept_size[0], blocks = (row + kWidth - 1) / kWidth,
                widest = std::min(row, kWidth);
  const int64_t piece = std::max<int64_t>(ColumnBlock<Ops>::kRows, kPiece / widest),
                pieces = (dims.reduced + piece - 1) / piece;
  const int64_t outputs = dims.kept / row * blocks;
  const auto totals = std::make_unique_for_overwrite<acc_t[]>(
      pieces > 1 ? static_cast<size_t>(outputs * pieces * widest) : 0);
  const auto store = [&](int64_t block, const acc_t* values, int64_t width) {
    char* target = out + offset_of(block / blocks * row + block % blocks * kWidth, dims.kept_size,
                                   dims.kept_stride_out);
    for (int64_t j = 0; j < width; ++j) {
      *reinterpret_cast<typename Ops::output_t*>(target + j * dims.kept_stride_out[0]) =
          ops.project(values[j]);
    }
  };
  const auto width_of = [&](int64_t block) {
    return std::min(kWidth, row - block % blocks * kWidth);
  };
  const int64_t grain =
      std::max<int64_t>(1, TensorIterator::kGrain / (std::min(piece, dims.reduced) * widest));
  parallel_for(0, outputs * pieces, grain, [&](int64_t begin, int64_t end) {
    acc_t values[kWidth];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / pieces, first = task % pieces * piece, width = width_of(block);
      const char* source = in + offset_of(block / blocks * row + block % blocks * kWidth,
                                          dims.kept_size, dims.kept_stride_in);
      acc_t* target = pieces > 1 ? totals.get() + task * widest : values;
      ColumnBlock<Ops>(ops, width)
          .reduce(dims, source, first, std::min(dims.reduced, first + piece), target);
      if (pieces == 1) store(block, target, width);
    }
  });
  for (int64_t block = 0; pieces > 1 && block < outputs; ++block) {
    acc_t* parts = totals.get() + block * pieces * widest;
    const int64_t width = width_of(block);
    for (int64_t step = 1; step < pieces; step *= 2) {
      for (int64_t p = 0; p + step < pieces; p += 2 * step) {
        acc_t *a = parts + p * widest, *b = parts + (p + step) * widest;
        for (int64_t j = 0; j < width; ++j) a[j] = ops.combine(a[j], b[j]);
      }
    }
    store(block, parts, width);
  }
}

/// A row of at most kChunk elements that lie one behind the other: lanes, which are folded while
/// the rest of the row is added to as many of them as it fills.
template <typename Ops>
typename Ops::acc_t reduce_short_row(const Ops& ops, const typename Ops::input_t* row, int64_t n) {
  typename Ops::acc_t lanes[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) lanes[j] = ops.identity();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = ops.reduce(lanes[j], row[i + j]);
  }
#pragma GCC unroll 5
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; ++j) lanes[j] = ops.combine(lanes[j], lanes[j + width]);
    if (n - i < width) continue;
    for (int64_t j = 0; j < width; ++j) lanes[j] = ops.reduce(lanes[j], row[i + j]);
    i += width;
  }
  return lanes[0];
}

constexpr int64_t kTiny = 24;      // rows up to this length are added up element by element,
constexpr int64_t kTinyRows = 16;  // so many of them at once

/// `count` results of rows that lie `step` bytes apart: f(k, result).
template <typename Ops, typename F>
void reduce_tiny_rows(const Ops& ops, const char* in, int64_t step, int64_t n, int64_t count,
                      const F& f) {
  using input_t = typename Ops::input_t;
  const int64_t stride = step / static_cast<int64_t>(sizeof(input_t));
  const auto* rows = reinterpret_cast<const input_t*>(in);
  int64_t k = 0;
  for (; k + kTinyRows <= count; k += kTinyRows, rows += kTinyRows * stride) {
    typename Ops::acc_t acc[kTinyRows];
    for (int64_t w = 0; w < kTinyRows; ++w) acc[w] = ops.identity();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t w = 0; w < kTinyRows; ++w) acc[w] = ops.reduce(acc[w], rows[w * stride + i]);
    }
    for (int64_t w = 0; w < kTinyRows; ++w) f(k + w, acc[w]);
  }
  for (; k < count; ++k, rows += stride) {
    auto acc = ops.identity();
    for (int64_t i = 0; i < n; ++i) acc = ops.reduce(acc, rows[i]);
    f(k, acc);
  }
}

/// One output after the other.
template <typename Ops>
void reduce_rows(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  using input_t = typename Ops::input_t;
  const bool in_line = dims.reduced_size.size() == 1 &&
                       dims.reduced_stride[0] == static_cast<int64_t>(sizeof(input_t));
  const int64_t run = dims.kept_size[0], in_step = dims.kept_stride_in[0],
                out_step = dims.kept_stride_out[0];
  const bool whole_steps = in_step % static_cast<int64_t>(sizeof(input_t)) == 0;
  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / dims.reduced);
  parallel_for(0, dims.kept, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t count = std::min(run - begin % run, end - begin);
      const char* source = in + offset_of(begin, dims.kept_size, dims.kept_stride_in);
      char* target = out + offset_of(begin, dims.kept_size, dims.kept_stride_out);
      const auto store = [&](int64_t k, typename Ops::acc_t value) {
        *reinterpret_cast<typename Ops::output_t*>(target + k * out_step) = ops.project(value);
      };
      if (in_line && whole_steps && dims.reduced <= kTiny) {
        reduce_tiny_rows(ops, source, in_step, dims.reduced, count, store);
      } else {
        for (int64_t k = 0; k < count; ++k) {
          const char* row = source + k * in_step;
          store(k, in_line && dims.reduced <= kChunk
                       ? reduce_short_row(ops, reinterpret_cast<const input_t*>(row), dims.reduced)
                       : reduce_in_pieces(ops, dims, row));
        }
      }
      begin += count;
    }
  });
}

/// Runs a reduction. Ops has input_t, acc_t, output_t, identity(), reduce(acc, input), combine(acc,
/// acc), project(acc).
template <typename Ops>
void cpu_reduce(const TensorIteratorBase& iter, const Ops& ops) {
  using output_t = typename Ops::output_t;
  char* out = iter.data(0);
  const char* in = iter.data(1);
  if (iter.numel() == 0) {  // every output is the identity
    const Tensor& result = iter.output();
    const TensorIterator fill = TensorIterator::over(iter.op_name(), {&result});
    auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        *reinterpret_cast<output_t*>(data[0] + i * strides[0]) =
            *static_cast<const output_t*>(context);
    };
    const output_t value = ops.project(ops.identity());
    fill.for_each(loop, &value);
    return;
  }
  const ReductionDims dims(iter);
  const bool row_contiguous =
      dims.fastest_is_kept && !dims.kept_size.empty() && dims.kept_size[0] >= 4 &&
      dims.kept_stride_in[0] == static_cast<int64_t>(sizeof(typename Ops::input_t));
  if (row_contiguous && dims.reduced > 1 && dims.reduced < (int64_t{1} << 29)) {
    reduce_all_columns(ops, dims, out, in);
    return;
  }
  if (dims.kept == 1) {
    *reinterpret_cast<output_t*>(out) = ops.project(reduce_in_pieces(ops, dims, in));
    return;
  }
  reduce_rows(ops, dims, out, in);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
