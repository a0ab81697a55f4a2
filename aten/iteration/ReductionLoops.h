#pragma once
// cpu_reduce, which runs a planned reduction. Note [CPU_CAPABILITY] in Loops.h says why these
// headers are in an inline namespace.
#include <algorithm>
#include <memory>
#include <vector>

#include "aten/iteration/ReductionColumns.h"
#include "aten/iteration/ReductionDims.h"
#include "aten/iteration/ReductionOrder.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Reduces elements [begin, end) of the reduced dimensions, starting at `in`.
template <typename Ops>
typename Ops::acc_t reduce_range(const Ops& ops, const ReductionDims& dims, const char* in,
                                 int64_t begin, int64_t end) {
  Cascade<Ops> cascade(ops);
  if (dims.reduced_size.empty()) {
    cascade.feed(reinterpret_cast<const typename Ops::input_t*>(in), end - begin);
    return cascade.result();
  }

  RowWalk walk(dims, in, begin);
  while (begin < end) {
    const int64_t run = std::min(walk.left(), end - begin);
    const char* address = walk.address();
    begin += run;
    walk.advance(run);

    // The start of the next run, which may be far away; from there on, elements are foreseen.
    constexpr int64_t kLines = 8;
    for (int64_t i = 0; begin < end && i < kLines; ++i) __builtin_prefetch(walk.address() + i * 64);
    cascade.feed_strided(address, dims.reduced_stride[0], run);
  }
  return cascade.result();
}

/// One long reduction: pieces on several threads, combined pairwise in order.
template <typename Ops>
typename Ops::acc_t reduce_in_pieces(const Ops& ops, const ReductionDims& dims, const char* in) {
  if (dims.reduced <= kPiece) return reduce_range(ops, dims, in, 0, dims.reduced);

  // An array, as threads must not share the bytes in which std::vector<bool> packs its elements.
  const int64_t pieces = (dims.reduced + kPiece - 1) / kPiece;
  const auto partial =
      std::make_unique_for_overwrite<typename Ops::acc_t[]>(static_cast<size_t>(pieces));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t last = std::min(dims.reduced, (p + 1) * kPiece);
      partial[p] = reduce_range(ops, dims, in, p * kPiece, last);
    }
  });

  for (int64_t step = 1; step < pieces; step *= 2) {
    for (int64_t p = 0; p + step < pieces; p += 2 * step)
      partial[p] = ops.combine(partial[p], partial[p + step]);
  }
  return partial[0];
}

/// Reduces `count` neighbouring results in turns, a row of each, and calls f(k, result) for each of
/// them: the rows of one result, such as the mean of a channel, are far apart in memory, and those
/// of its neighbours lie between them.
template <typename Ops, typename F>
void reduce_in_turns(const Ops& ops, const ReductionDims& dims, const char* in, int64_t step,
                     int64_t count, const F& f) {
  std::vector<Cascade<Ops>> cascades(static_cast<size_t>(count), Cascade<Ops>(ops));

  RowWalk walk(dims, in, 0);
  for (int64_t begin = 0; begin < dims.reduced;) {
    const int64_t run = std::min(walk.left(), dims.reduced - begin);
    const char* row = walk.address();
    for (Cascade<Ops>& cascade : cascades) {
      cascade.feed_strided(row, dims.reduced_stride[0], run);
      row += step;
    }
    walk.advance(run);
    begin += run;
  }

  for (int64_t k = 0; k < count; ++k) f(k, cascades[static_cast<size_t>(k)].result());
}

/// Whether memory has rows of neighbouring results between the rows of one.
inline bool has_rows_between(const ReductionDims& dims) {
  return dims.reduced_size.size() > 1 && dims.reduced <= kPiece && dims.kept_stride_in[0] > 0 &&
         dims.kept_stride_in[0] < dims.reduced_stride[1];
}

/// Reductions of one element each, along dimensions of size 1.
template <typename Ops>
void reduce_single_elements(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  using input_t = typename Ops::input_t;
  using output_t = typename Ops::output_t;
  const int64_t run = dims.kept_size[0];
  const int64_t in_step = dims.kept_stride_in[0];
  const int64_t out_step = dims.kept_stride_out[0];
  const bool is_contiguous =
      in_step == int64_t{sizeof(input_t)} && out_step == int64_t{sizeof(output_t)};

  parallel_for(0, dims.kept, TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t count = std::min(run - begin % run, end - begin);
      const char* source = in + offset_of(begin, dims.kept_size, dims.kept_stride_in);
      char* target = out + offset_of(begin, dims.kept_size, dims.kept_stride_out);
      const auto reduce = [&](int64_t from_step, int64_t to_step) {
#pragma GCC ivdep
        for (int64_t k = 0; k < count; ++k) {
          const auto& element = *reinterpret_cast<const input_t*>(source + k * from_step);
          *reinterpret_cast<output_t*>(target + k * to_step) =
              ops.project(ops.reduce(ops.identity(), element));
        }
      };

      if (is_contiguous) reduce(int64_t{sizeof(input_t)}, int64_t{sizeof(output_t)});
      else reduce(in_step, out_step);
      begin += count;
    }
  });
}

/// Reduces one result after another, several of them at once where their rows are tiny or far
/// apart.
template <typename Ops>
void reduce_rows(const Ops& ops, const ReductionDims& dims, char* out, const char* in) {
  using input_t = typename Ops::input_t;
  constexpr int64_t kSize = sizeof(input_t);
  const int64_t run = dims.kept_size[0];
  const int64_t in_step = dims.kept_stride_in[0];
  const int64_t out_step = dims.kept_stride_out[0];

  const bool is_contiguous = dims.reduced_size.size() == 1 && dims.reduced_stride[0] == kSize;
  const bool is_tiny = is_contiguous && in_step % kSize == 0 && dims.reduced <= kTiny;
  const bool is_short = is_contiguous && dims.reduced <= kChunk;
  const bool in_turns = has_rows_between(dims);
  constexpr int64_t kTogether = 16;  // results, whose accumulators stay in the first-level cache

  const int64_t grain = std::max<int64_t>(1, TensorIterator::kGrain / dims.reduced);
  parallel_for(0, dims.kept, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t count = std::min(run - begin % run, end - begin);
      const char* source = in + offset_of(begin, dims.kept_size, dims.kept_stride_in);
      char* target = out + offset_of(begin, dims.kept_size, dims.kept_stride_out);
      const auto store = [&](int64_t k, typename Ops::acc_t value) {
        *reinterpret_cast<typename Ops::output_t*>(target + k * out_step) = ops.project(value);
      };

      if (is_tiny) {
        reduce_tiny_rows(ops, source, in_step, dims.reduced, count, store);
      } else if (in_turns) {
        for (int64_t k = 0; k < count; k += kTogether) {
          reduce_in_turns(ops, dims, source + k * in_step, in_step, std::min(kTogether, count - k),
                          [&](int64_t j, typename Ops::acc_t value) { store(k + j, value); });
        }
      } else {
        for (int64_t k = 0; k < count; ++k) {
          const char* row = source + k * in_step;
          const auto* elements = reinterpret_cast<const input_t*>(row);
          store(k, is_short ? reduce_short_row(ops, elements, dims.reduced)
                            : reduce_in_pieces(ops, dims, row));
        }
      }
      begin += count;
    }
  });
}

/// The reduction of zero elements: every result is the identity.
template <typename Ops>
void fill_with_identity(const TensorIteratorBase& iter, const Ops& ops) {
  using output_t = typename Ops::output_t;
  const Tensor& result = iter.output();
  const TensorIterator fill = TensorIterator::over(iter.op_name(), {&result});
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    const output_t value = *static_cast<const output_t*>(context);
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<output_t*>(data[0] + i * strides[0]) = value;
  };

  const output_t value = ops.project(ops.identity());
  fill.for_each(loop, &value);
}

/// Whether there is one result, of few elements in a row: then the dimensions need not be told
/// apart.
inline bool is_short_row(const TensorIteratorBase& iter, size_t itemsize) {
  return iter.dim() == 1 && iter.strides(0)[0] == 0 && iter.numel() <= kChunk &&
         iter.strides(1)[0] == static_cast<int64_t>(itemsize);
}

/// Runs the reduction that `iter` plans (ReductionPlan.h) with `ops` (ReductionOrder.h).
template <typename Ops>
void cpu_reduce(const TensorIteratorBase& iter, const Ops& ops) {
  if (iter.numel() == 0) return fill_with_identity(iter, ops);

  char* out = iter.data(0);
  const char* in = iter.data(1);
  const auto store_only = [&](typename Ops::acc_t total) {
    *reinterpret_cast<typename Ops::output_t*>(out) = ops.project(total);
  };

  if (is_short_row(iter, sizeof(typename Ops::input_t))) {
    const auto* row = reinterpret_cast<const typename Ops::input_t*>(in);
    return store_only(reduce_short_row(ops, row, iter.numel()));
  }
  const ReductionDims dims(iter);

  const bool row_contiguous =
      dims.fastest_is_kept && !dims.kept_size.empty() && dims.kept_size[0] >= 4 &&
      dims.kept_stride_in[0] == static_cast<int64_t>(sizeof(typename Ops::input_t));
  if (row_contiguous && dims.reduced > 1 && dims.reduced < (int64_t{1} << 29))
    return reduce_all_columns(ops, dims, out, in);

  if (dims.kept == 1) return store_only(reduce_in_pieces(ops, dims, in));
  if (dims.reduced == 1) return reduce_single_elements(ops, dims, out, in);
  reduce_rows(ops, dims, out, in);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
