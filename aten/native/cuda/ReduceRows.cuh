// Reductions in which neighbouring threads share a result. Note [Device reductions].
#pragma once
#include "aten/native/cuda/Pack.cuh"
#include "aten/native/cuda/ReduceBlock.cuh"

namespace at::native::cuda {

struct ReduceRowsArguments {
  ReduceTarget target;
  ReduceDims kept;
  ReduceDims reduced;
  int64_t piece_length;
  unsigned pieces;
  int across;
};

/// Reduces elements [begin, end) of the row at `row`, which `across` threads share. With packs,
/// `begin` is a multiple of kWidth; the last pack may be incomplete.
template <int kWidth, class Ops>
SIMT_DEVICE typename Ops::acc_t reduce_range_of_row(const Ops& ops, const ReduceDims& dims,
                                                    const char* row, int64_t begin, int64_t end,
                                                    int thread, int across) {
  using input_t = typename Ops::input_t;
  constexpr int kSteps = 4;  // packs that are under way together
  constexpr int kAccumulators = kWidth > kSteps ? kWidth : kSteps;
  typename Ops::acc_t acc[kAccumulators];
  SIMT_UNROLL
  for (int i = 0; i < kAccumulators; ++i) acc[i] = ops.identity();

  const int64_t stride = int64_t{across} * kWidth;
  for (int64_t first = begin + int64_t{thread} * kWidth; first < end; first += kSteps * stride) {
    Pack<input_t, kWidth> packs[kSteps];
    SIMT_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      const int64_t index = first + step * stride;
      if (index + kWidth <= end)
        packs[step] = *reinterpret_cast<const Pack<input_t, kWidth>*>(row + dims.offset(1, index));
    }

    SIMT_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      const int64_t index = first + step * stride;
      if (index + kWidth > end) continue;
      SIMT_UNROLL
      for (int i = 0; i < kWidth; ++i) {
        const int to = (step * kWidth + i) % kAccumulators;
        acc[to] = reduce_element(ops, acc[to], packs[step].values[i], index + i);
      }
    }
  }

  // The elements after the last whole pack.
  if constexpr (kWidth > 1) {
    for (int64_t index = end - end % kWidth + thread; index < end; index += across) {
      const auto* const address = reinterpret_cast<const input_t*>(row + dims.offset(1, index));
      acc[0] = reduce_element(ops, acc[0], *address, index);
    }
  }
  return fold(ops, acc);
}

/// Blocks: pieces of a result next to each other, then groups of results.
template <int kWidth, class Ops>
SIMT_KERNEL reduce_rows_kernel(ReduceRowsArguments arguments, Ops given) {
  using acc_t = typename Ops::acc_t;
  const int across = arguments.across;
  const int thread = static_cast<int>(simt::thread_x()) % across;
  const int down = kReduceThreads / across;
  const unsigned pieces = arguments.pieces;
  const int64_t piece = simt::block_x() % pieces;
  const int64_t result =
      int64_t{simt::block_x() / pieces} * down + static_cast<int>(simt::thread_x()) / across;
  const bool exists = result < arguments.kept.count;

  const char* const row =
      arguments.target.data[1] + (exists ? arguments.kept.offset(1, result) : 0);
  const Ops ops = ops_from(given, row);
  acc_t value = ops.identity();
  if (exists) {
    const int64_t begin = piece * arguments.piece_length;
    const int64_t limit = begin + arguments.piece_length;
    const int64_t end = limit < arguments.reduced.count ? limit : arguments.reduced.count;
    value = reduce_range_of_row<kWidth>(ops, arguments.reduced, row, begin, end, thread, across);
  }
  value = reduce_group(ops, value, across);

  // With pieces, the block has one result.
  if (pieces > 1) {
    acc_t* const parts = static_cast<acc_t*>(arguments.target.parts) + result * pieces;
    if (thread == 0) parts[piece] = value;
    if (!is_last_piece(arguments.target.counters + result, pieces)) return;

    value = ops.identity();
    for (unsigned part = thread; part < pieces; part += kReduceThreads)
      value = ops.combine(value, parts[part]);
    value = reduce_group(ops, value, across);
  }

  if (exists && thread == 0)
    store_result(ops, arguments.target, value, arguments.kept.offset(0, result),
                 arguments.kept.offset(2, result));
}

}  // namespace at::native::cuda
