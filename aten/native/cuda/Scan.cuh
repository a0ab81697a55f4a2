// Running results along lanes.
#pragma once
#include "aten/native/cuda/Lanes.cuh"
#include "aten/native/cuda/ScanProgress.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

// Note [Scans]
// An Ops struct has a State, start() (neutral for combine), load(lane, i), combine(earlier, later),
// which is associative, and store(outputs, i, state). Many lanes get a thread each. Otherwise
// blocks go through a lane in tiles of 1024 elements, and 32 tiles are a group. What is before a
// tile is combined from the totals of the groups before its own, in their order, and the totals of
// the tiles before it in its group, in their order. A block either goes through a whole lane or,
// where there are few long lanes, has one tile: it publishes its total, and waits for the totals of
// its group and for the combination of all groups before. Results do not depend on which of the two
// it is, nor on how far other blocks are.
//
// Blocks wait only for tiles with earlier tickets, whose blocks have started.

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

/// The elements of a tile of which a thread has kScanItems.
template <class Ops>
class ScanTile {
 public:
  using State = typename Ops::State;

  SIMT_DEVICE ScanTile(const Ops& ops, const typename Ops::Place& place, int64_t tile,
                       int64_t length)
      : first_(tile * kScanTile + simt::thread_x() * kScanItems), length_(length) {
    State all = ops.start();
    SIMT_UNROLL
    for (int i = 0; i < kScanItems; ++i) {
      items_[i] = first_ + i < length ? ops.load(place, first_ + i) : ops.start();
      all = ops.combine(all, items_[i]);
    }
    scan_ = scan_block(ops, all);
  }

  SIMT_DEVICE State total() const { return scan_.total; }

  /// Writes the running results, which begin with those before the tile.
  SIMT_DEVICE void store(const Ops& ops, const typename Ops::Place& place, State before) const {
    State value = ops.combine(before, scan_.before);
    SIMT_UNROLL
    for (int i = 0; i < kScanItems; ++i) {
      value = ops.combine(value, items_[i]);
      if (first_ + i < length_) ops.store(place, first_ + i, value);
    }
  }

 private:
  int64_t first_;
  int64_t length_;
  State items_[kScanItems];
  BlockScan<State> scan_;
};

}  // namespace detail

/// A block for each lane.
template <class Ops>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kScanThreads) scan_whole_lanes_kernel(LaneTable lanes, Ops ops) {
  using State = typename Ops::State;
  const typename Ops::Place place(lanes, simt::block_x());
  const int64_t tiles = (lanes.length + kScanTile - 1) / kScanTile;

  State groups = ops.start();
  State in_group = ops.start();
  for (int64_t number = 0; number < tiles; ++number) {
    if (number > 0 && number % kScanGroup == 0) {
      groups = ops.combine(groups, in_group);
      in_group = ops.start();
    }
    const detail::ScanTile<Ops> tile(ops, place, number, lanes.length);
    tile.store(ops, place, ops.combine(groups, in_group));
    in_group = ops.combine(in_group, tile.total());
  }
}

/// A block for each tile.
template <class Ops>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kScanThreads)
    scan_tiles_kernel(LaneTable lanes, ScanProgress<typename Ops::State> progress, Ops ops) {
  using State = typename Ops::State;
  SIMT_SHARED(ticket, uint64_t);
  SIMT_SHARED(shared_before, State);
  if (simt::thread_x() == 0) ticket = simt::atomic_add(progress.tickets, uint64_t{1});
  simt::sync_block();

  // Neighbouring tickets are in different lanes, whose blocks do not wait for each other.
  const auto lane = static_cast<int64_t>(ticket % static_cast<uint64_t>(lanes.count));
  const auto number = static_cast<int64_t>(ticket / static_cast<uint64_t>(lanes.count));
  const typename Ops::Place place(lanes, lane);
  const detail::ScanTile<Ops> tile(ops, place, number, lanes.length);

  if (simt::thread_x() < 32) {
    const State before = progress.before_tile(ops, lane, number, tile.total());
    if (simt::thread_x() == 0) shared_before = before;
  }
  simt::sync_block();
  tile.store(ops, place, shared_before);
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
  if (lanes.length == 0 || lanes.count == 0) return;
  const bool is_contiguous = lanes.steps[0] == itemsize;
  const bool is_short = lanes.length < (is_contiguous ? 32 : 64);
  if (is_short || (!is_contiguous && lanes.count >= 4096)) return scan_by_threads(name, lanes, ops);

  constexpr int64_t kManyLanes = 512;
  const cudaStream_t stream = c10::cuda::current_stream();
  const int64_t tiles = (lanes.length + kScanTile - 1) / kScanTile;
  if (tiles == 1 || lanes.count >= kManyLanes) {
    c10::cuda::launch(name, &scan_whole_lanes_kernel<Ops>, dim3(static_cast<unsigned>(lanes.count)),
                      dim3(kScanThreads), 0, stream, lanes, ops);
    return;
  }

  ScanProgress<typename Ops::State> progress;
  const c10::DataPtr memory = progress.allocate(lanes.count, tiles);
  c10::cuda::launch(name, &scan_tiles_kernel<Ops>, dim3(static_cast<unsigned>(lanes.count * tiles)),
                    dim3(kScanThreads), 0, stream, lanes, progress, ops);
}

}  // namespace at::native::cuda
