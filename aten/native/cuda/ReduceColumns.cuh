// Reductions in which neighbouring threads have neighbouring results. Note [Device reductions].
#pragma once
#include "aten/native/cuda/Pack.cuh"
#include "aten/native/cuda/ReduceBlock.cuh"

namespace at::native::cuda {

struct ReduceColumnsArguments {
  ReduceTarget target;
  ReduceDims kept;
  ReduceDims reduced;
  int64_t columns;
  int64_t column_stride[3];
  int64_t piece_length;
  unsigned pieces;
  unsigned tiles;  // blocks side by side
  int across;
  int down;
};

/// Reduces rows [begin, end) of a pack of columns at `column`, every `down`-th from `begin` + y.
template <int kWidth, class Ops>
SIMT_DEVICE void reduce_rows_of_pack(const Ops (&ops)[kWidth], const ReduceDims& dims,
                                     const char* column, int64_t begin, int64_t end, int y,
                                     int down, typename Ops::acc_t (&acc)[kWidth]) {
  using pack_t = Pack<typename Ops::input_t, kWidth>;
  constexpr int kSteps = 4;  // rows that are under way together

  for (int64_t first = begin + y; first < end; first += int64_t{kSteps} * down) {
    pack_t packs[kSteps];
    SIMT_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      const int64_t row = first + int64_t{step} * down;
      if (row < end) packs[step] = *reinterpret_cast<const pack_t*>(column + dims.offset(1, row));
    }

    SIMT_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      const int64_t row = first + int64_t{step} * down;
      if (row >= end) continue;
      SIMT_UNROLL
      for (int i = 0; i < kWidth; ++i)
        acc[i] = reduce_element(ops[i], acc[i], packs[step].values[i], row);
    }
  }
}

/// Combines the accumulators of the `down` threads with the same columns; the thread with y == 0
/// gets the results. All threads of the block must call it.
template <int kWidth, class Ops>
SIMT_DEVICE void reduce_down(const Ops& ops, int y, int down, int across,
                             typename Ops::acc_t (&acc)[kWidth]) {
  using acc_t = typename Ops::acc_t;
  constexpr int kBytes = kReduceThreads * kWidth * static_cast<int>(sizeof(acc_t));
  SIMT_SHARED(memory, ulonglong2[(kBytes + 15) / 16]);
  auto* const values = reinterpret_cast<acc_t*>(&memory);
  const auto thread = static_cast<int>(simt::thread_x());

  for (int half = down / 2; half > 0; half /= 2) {
    SIMT_UNROLL
    for (int i = 0; i < kWidth; ++i) values[i * kReduceThreads + thread] = acc[i];
    simt::sync_block();
    if (y < half) {
      SIMT_UNROLL
      for (int i = 0; i < kWidth; ++i) {
        const acc_t other = values[i * kReduceThreads + thread + half * across];
        acc[i] = ops.combine(acc[i], other);
      }
    }
    simt::sync_block();
  }
}

/// Blocks: pieces of a tile of columns next to each other, then tiles, then other kept indices.
template <int kWidth, class Ops>
SIMT_KERNEL reduce_columns_kernel(ReduceColumnsArguments arguments, Ops given) {
  using acc_t = typename Ops::acc_t;
  const int across = arguments.across;
  const int down = arguments.down;
  const int x = static_cast<int>(simt::thread_x()) % across;
  const int y = static_cast<int>(simt::thread_x()) / across;

  const unsigned pieces = arguments.pieces;
  const unsigned group = simt::block_x() / pieces;  // the blocks that share results
  const int64_t piece = simt::block_x() % pieces;
  const int64_t outer = group / arguments.tiles;
  const int64_t column = (int64_t{group % arguments.tiles} * across + x) * kWidth;
  const bool exists = column < arguments.columns;

  const char* const data =
      arguments.target.data[1] +
      (exists ? arguments.kept.offset(1, outer) + column * arguments.column_stride[1] : 0);
  acc_t acc[kWidth];
  Ops ops[kWidth];
  SIMT_UNROLL
  for (int i = 0; i < kWidth; ++i) {
    acc[i] = given.identity();
    ops[i] = ops_from(given, data + (exists ? i * arguments.column_stride[1] : 0));
  }
  if (exists) {
    const int64_t begin = piece * arguments.piece_length;
    const int64_t limit = begin + arguments.piece_length;
    reduce_rows_of_pack<kWidth>(ops, arguments.reduced, data, begin,
                                limit < arguments.reduced.count ? limit : arguments.reduced.count,
                                y, down, acc);
  }
  reduce_down<kWidth>(given, y, down, across, acc);

  if (pieces > 1) {
    acc_t* const parts =
        static_cast<acc_t*>(arguments.target.parts) + outer * arguments.columns * pieces + column;
    if (exists && y == 0) {
      for (int i = 0; i < kWidth; ++i) parts[piece * arguments.columns + i] = acc[i];
    }
    if (!is_last_piece(arguments.target.counters + group, pieces)) return;

    for (int i = 0; i < kWidth; ++i) {
      acc[i] = given.identity();
      for (unsigned part = y; exists && part < pieces; part += down)
        acc[i] = given.combine(acc[i], parts[int64_t{part} * arguments.columns + i]);
    }
    reduce_down<kWidth>(given, y, down, across, acc);
  }

  if (!exists || y != 0) return;
  const int64_t result = arguments.kept.offset(0, outer);
  const int64_t second = arguments.kept.offset(2, outer);
  for (int i = 0; i < kWidth; ++i)
    store_result(ops[i], arguments.target, acc[i],
                 result + (column + i) * arguments.column_stride[0],
                 second + (column + i) * arguments.column_stride[2]);
}

}  // namespace at::native::cuda
