#pragma once
// Loops of reductions on CPU; see Loops.h for the CPU_CAPABILITY namespace.
#include <algorithm>
#include <vector>

#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Reduction order]
// The order of additions depends on the shape only, never on the number of threads: elements go to kLanes
// accumulators, these are folded every kChunk elements, and chunk results are combined pairwise like a binary
// counter. The error of a float sum therefore grows with log(n). Long single reductions are cut into pieces of
// kPiece elements, which threads share out.
constexpr int64_t kLanes = 32;
constexpr int64_t kChunk = 4096;
constexpr int64_t kPiece = 65536;
constexpr int kLevels = 40;

/// The dimensions of a reduction: sizes and byte strides of what is kept and of what is reduced, fastest first.
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
    if (stride == static_cast<int64_t>(sizeof(input_t))) return feed(reinterpret_cast<const input_t*>(row), n);
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
typename Ops::acc_t reduce_range(const Ops& ops, const ReductionDims& dims, const char* in, int64_t begin, int64_t end) {
  Cascade<Ops> cascade(ops);
  if (dims.reduced_size.empty()) {
    cascade.feed(reinterpret_cast<const typename Ops::input_t*>(in), end - begin);
    return cascade.result();
  }
  const int64_t row_size = dims.reduced_size[0];
  while (begin < end) {
    const int64_t run = std::min(row_size - begin % row_size, end - begin);
    cascade.feed_strided(in + offset_of(begin, dims.reduced_size, dims.reduced_stride), dims.reduced_stride[0], run);
    begin += run;
  }
  return cascade.result();
}

/// One long reduction: pieces on several threads, combined pairwise in order.
template <typename Ops>
typename Ops::acc_t reduce_in_pieces(const Ops& ops, const ReductionDims& dims, const char* in) {
  if (dims.reduced <= kPiece) return reduce_range(ops, dims, in, 0, dims.reduced);
  const int64_t pieces = (dims.reduced + kPiece - 1) / kPiece;
  std::vector<typename Ops::acc_t> partial(static_cast<size_t>(pieces));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      partial[p] = reduce_range(ops, dims, in, p * kPiece, std::min(dims.reduced, (p + 1) * kPiece));
    }
  });
  for (int64_t step = 1; step < pieces; step *= 2) {
    for (int64_t p = 0; p + step < pieces; p += 2 * step) partial[p] = ops.combine(partial[p], partial[p + step]);
  }
  return partial[0];
}

/// Reduces down columns: `width` neighbouring outputs at once, so that each row is read contiguously.
template <typename Ops, int64_t kWidth>
void reduce_columns(const Ops& ops, const ReductionDims& dims, char* out, const char* in, int64_t width) {
  using acc_t = typename Ops::acc_t;
  using input_t = typename Ops::input_t;
  constexpr int64_t kRows = 64;  // rows per chunk, then chunks combine as a binary counter
  acc_t levels[24][kWidth];
  uint64_t chunks = 0;
  acc_t acc[kWidth];
  auto push = [&] {
    int level = 0;
    for (; (chunks >> level) & 1; ++level) {
      for (int64_t j = 0; j < kWidth; ++j) acc[j] = ops.combine(levels[level][j], acc[j]);
    }
    level = std::min(level, 23);
    for (int64_t j = 0; j < kWidth; ++j) levels[level][j] = acc[j];
    ++chunks;
  };
  for (int64_t row = 0; row < dims.reduced; row += kRows) {
    for (int64_t j = 0; j < kWidth; ++j) acc[j] = ops.identity();
    const int64_t last = std::min(dims.reduced, row + kRows);
    for (int64_t r = row; r < last; ++r) {
      const auto* values = reinterpret_cast<const input_t*>(in + offset_of(r, dims.reduced_size, dims.reduced_stride));
      if (width == kWidth) {
        for (int64_t j = 0; j < kWidth; ++j) acc[j] = ops.reduce(acc[j], values[j]);
      } else {
        for (int64_t j = 0; j < width; ++j) acc[j] = ops.reduce(acc[j], values[j]);
      }
    }
    push();
  }
  for (int64_t j = 0; j < width; ++j) {
    acc_t total = ops.identity();
    for (int level = 0; level < 24; ++level) {
      if ((chunks >> level) & 1) total = ops.combine(levels[level][j], total);
    }
    *reinterpret_cast<typename Ops::output_t*>(out + j * dims.kept_stride_out[0]) = ops.project(total);
  }
}

template <typename Ops>
void reduce_all_columns(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  constexpr int64_t kWidth = 32;
  const int64_t row = dims.kept_size[0];
  const int64_t blocks = (row + kWidth - 1) / kWidth;
  const int64_t rows = dims.kept / row;
  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / std::max<int64_t>(1, dims.reduced * kWidth));
  parallel_for(0, rows * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block % blocks * kWidth;
      const int64_t index = block / blocks * row + first;
      reduce_columns<Ops, kWidth>(ops, dims, out + offset_of(index, dims.kept_size, dims.kept_stride_out),
                                  in + offset_of(index, dims.kept_size, dims.kept_stride_in), std::min(kWidth, row - first));
    }
  });
}

/// Runs a reduction. Ops has input_t, acc_t, output_t, identity(), reduce(acc, input), combine(acc, acc), project(acc).
template <typename Ops>
void cpu_reduce(const TensorIteratorBase& iter, const Ops& ops) {
  using output_t = typename Ops::output_t;
  char* out = iter.data(0);
  const char* in = iter.data(1);
  if (iter.numel() == 0) {  // every output is the identity
    const Tensor& result = iter.output();
    const TensorIterator fill = TensorIterator::over(iter.op_name(), {&result});
    auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<output_t*>(data[0] + i * strides[0]) = *static_cast<const output_t*>(context);
    };
    const output_t value = ops.project(ops.identity());
    fill.for_each(loop, &value);
    return;
  }
  const ReductionDims dims(iter);
  const bool row_contiguous = dims.fastest_is_kept && !dims.kept_size.empty() && dims.kept_size[0] >= 4 &&
                              dims.kept_stride_in[0] == static_cast<int64_t>(sizeof(typename Ops::input_t));
  if (row_contiguous && dims.reduced > 1 && dims.reduced < (int64_t{1} << 29)) {
    reduce_all_columns(ops, dims, out, in);
    return;
  }
  if (dims.kept == 1) {
    *reinterpret_cast<output_t*>(out) = ops.project(reduce_in_pieces(ops, dims, in));
    return;
  }
  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / dims.reduced);
  parallel_for(0, dims.kept, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const char* source = in + offset_of(k, dims.kept_size, dims.kept_stride_in);
      const auto value = reduce_in_pieces(ops, dims, source);
      *reinterpret_cast<output_t*>(out + offset_of(k, dims.kept_size, dims.kept_stride_out)) = ops.project(value);
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
