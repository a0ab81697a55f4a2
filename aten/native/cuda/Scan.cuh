// Running results along lanes.
#pragma once
#include "aten/native/cuda/Lanes.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

// Note [Scans]
// An Ops struct has a State, start() (neutral for combine), load(lane, i), combine(earlier, later),
// which is associative, and store(outputs, i, state). Many lanes get a thread each. Otherwise a
// block goes through a lane in tiles, and where there are few long lanes, several blocks share
// one: a first kernel combines each piece, and the second begins with the pieces before its own.
// The order of all combinations depends on the shape only, so results are the same in every run.

namespace at::native::cuda {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanItems = 4;  // per thread and tile
inline constexpr int kScanTile = kScanThreads * kScanItems;

template <class Ops>
SIMT_KERNEL scan_lanes_kernel(LaneTable lanes, Ops ops) {
  const int64_t lane = int64_t{simt::block_x()} * kScanThreads + simt::thread_x();
  if (lane >= lanes.count) return;

  const typename Ops::Place place(lanes, lane);
  typename Ops::State running = ops.start();
  for (int64_t i = 0; i < lanes.length; ++i) {
    running = ops.combine(running, ops.load(place, i));
    ops.store(place, i, running);
  }
}

namespace detail {

/// The combination of the values of all earlier threads, and of those of the block.
template <class State>
struct BlockScan {
  State before;
  State total;
};

template <class Ops>
SIMT_DEVICE BlockScan<typename Ops::State> scan_block(const Ops& ops, typename Ops::State value) {
  using State = typename Ops::State;
  constexpr int kWarps = kScanThreads / 32;
  SIMT_SHARED(totals, State[kWarps]);
  const auto lane = static_cast<int>(simt::thread_x() % 32);
  const auto warp = static_cast<int>(simt::thread_x() / 32);

  State inclusive = value;
  for (int distance = 1; distance < 32; distance *= 2) {
    const State other = simt::shuffle_up(simt::kFullMask, inclusive, distance);
    if (lane >= distance) inclusive = ops.combine(other, inclusive);
  }
  const State neighbour = simt::shuffle_up(simt::kFullMask, inclusive, 1);

  if (lane == 31) totals[warp] = inclusive;
  simt::sync_block();

  BlockScan<State> result{ops.start(), ops.start()};
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) result.before = result.total;
    result.total = ops.combine(result.total, totals[w]);
  }
  if (lane > 0) result.before = ops.combine(result.before, neighbour);
  simt::sync_block();  // before the totals are overwritten
  return result;
}

}  // namespace detail

/// Note [Scans]. Without kStores, only the combination of each piece is written, to `sums`.
template <class Ops, bool kStores>
SIMT_KERNEL scan_pieces_kernel(LaneTable lanes, int64_t pieces, int64_t piece_length,
                               typename Ops::State* sums, Ops ops) {
  using State = typename Ops::State;
  const int64_t lane = simt::block_x() / pieces;
  const int64_t piece = simt::block_x() % pieces;
  const typename Ops::Place place(lanes, lane);
  const int64_t begin = piece * piece_length;
  const int64_t end = begin + piece_length < lanes.length ? begin + piece_length : lanes.length;

  State running = ops.start();
  if constexpr (kStores) {
    for (int64_t p = 0; p < piece; ++p) running = ops.combine(running, sums[lane * pieces + p]);
  }

  for (int64_t tile = begin; tile < end; tile += kScanTile) {
    const int64_t first = tile + simt::thread_x() * kScanItems;
    State items[kScanItems];
    State all = ops.start();
    SIMT_UNROLL
    for (int i = 0; i < kScanItems; ++i) {
      items[i] = first + i < end ? ops.load(place, first + i) : ops.start();
      all = ops.combine(all, items[i]);
    }

    const detail::BlockScan<State> scan = detail::scan_block(ops, all);
    if constexpr (kStores) {
      State value = ops.combine(running, scan.before);
      for (int i = 0; i < kScanItems && first + i < end; ++i) {
        value = ops.combine(value, items[i]);
        ops.store(place, first + i, value);
      }
    }
    running = ops.combine(running, scan.total);
  }

  if constexpr (!kStores) {
    if (simt::thread_x() == 0) sums[lane * pieces + piece] = running;
  }
}

/// One thread per lane.
template <class Ops>
void scan_by_threads(const char* name, const LaneTable& lanes, const Ops& ops) {
  const int64_t blocks = (lanes.count + kScanThreads - 1) / kScanThreads;
  c10::cuda::launch(name, &scan_lanes_kernel<Ops>, dim3(static_cast<unsigned>(blocks)),
                    dim3(kScanThreads), 0, c10::cuda::current_stream(), lanes, ops);
}

/// Writes the running results of every lane; `itemsize` is that of the input.
template <class Ops>
void scan(const char* name, const LaneTable& lanes, int64_t itemsize, const Ops& ops) {
  using State = typename Ops::State;
  if (lanes.length == 0 || lanes.count == 0) return;
  const bool is_contiguous = lanes.steps[0] == itemsize;
  const bool is_short = lanes.length < (is_contiguous ? 32 : 64);
  if (is_short || (!is_contiguous && lanes.count >= 4096)) return scan_by_threads(name, lanes, ops);

  // Pieces of whole tiles, as many as give every multiprocessor work.
  constexpr int64_t kBlocks = 256;
  constexpr int64_t kFewestTiles = 4;
  const int64_t tiles = (lanes.length + kScanTile - 1) / kScanTile;
  int64_t pieces = kBlocks / lanes.count;
  if (pieces > tiles / kFewestTiles) pieces = tiles / kFewestTiles;
  if (pieces < 1) pieces = 1;
  const int64_t piece_length = (tiles + pieces - 1) / pieces * kScanTile;
  pieces = (lanes.length + piece_length - 1) / piece_length;

  const cudaStream_t stream = c10::cuda::current_stream();
  const dim3 grid(static_cast<unsigned>(lanes.count * pieces));
  c10::DataPtr memory;
  if (pieces > 1) {
    memory = c10::cuda::device_allocator().allocate(static_cast<size_t>(lanes.count * pieces) *
                                                    sizeof(State));
    c10::cuda::launch(name, &scan_pieces_kernel<Ops, false>, grid, dim3(kScanThreads), 0, stream,
                      lanes, pieces, piece_length, static_cast<State*>(memory.get()), ops);
  }
  c10::cuda::launch(name, &scan_pieces_kernel<Ops, true>, grid, dim3(kScanThreads), 0, stream,
                    lanes, pieces, piece_length, static_cast<State*>(memory.get()), ops);
}

}  // namespace at::native::cuda
