// Running results along lanes.
#pragma once
#include <type_traits>

#include "aten/native/cuda/Lanes.cuh"
#include "aten/native/cuda/ScanProgress.cuh"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

// Note [Scans]
// An Ops struct has a State, start() (neutral for combine), load(lane, i), combine(earlier, later),
// which is associative, and store(outputs, i, state). What load returns is a State, or an Item that
// state(item) makes one. Many lanes get a thread each. Otherwise
// blocks go through a lane in tiles, and 32 tiles are a group. What is before a tile is combined
// from the totals of the groups before its own, in their order, and the totals of the tiles before
// it in its group, in their order. A block either goes through a whole lane or, where there are few
// long lanes, has one tile: it publishes its total, and waits for the totals of its group and for
// the combination of all groups before. Results do not depend on which of the two it is, nor on how
// far other blocks are.
//
// A tile has up to four rounds of 1024 elements, or one where Ops has no Item. In each round, a
// thread has four neighbours, which are a pack where Ops has load_pack and store_pack and the lane
// is_packed(); the loads of all rounds are under way together, and the block combines all of them
// at once. Blocks need the time to look at what is before them, so that only large tiles keep
// enough bytes under way.
//
// Blocks wait only for tiles with earlier tickets, whose blocks have started.

namespace at::native::cuda {

inline constexpr int kScanThreads = 256;
inline constexpr int kScanItems = 4;  // per thread and round
inline constexpr int kScanRound = kScanThreads * kScanItems;

/// Whether Ops loads elements, and makes states of them later. States that are computed make too
/// much code for several at once.
template <class Ops>
inline constexpr bool kLoadsItems = requires { typename Ops::Item; };

/// The rounds of a tile of lanes that are longer than one: items are in registers.
template <class Ops>
inline constexpr int kScanRounds = !kLoadsItems<Ops>                 ? 1
                                   : sizeof(typename Ops::State) > 8 ? 2
                                                                     : 4;
/// Blocks that share a multiprocessor, which limits their registers. Those that wait for each other
/// make up for it by their number.
template <class Ops>
inline constexpr int kScanBlocks = sizeof(typename Ops::State) > 8   ? 2
                                   : sizeof(typename Ops::State) > 4 ? 3
                                                                     : 4;
template <class Ops>
inline constexpr int kWaitingBlocks = kLoadsItems<Ops> && sizeof(typename Ops::State) <= 8 ? 5 : 2;

namespace detail {

/// What is loaded of an element, which becomes a state by Ops::state; otherwise states are loaded.
template <class Ops>
struct ScanItem {
  using type = typename Ops::State;
};
template <class Ops>
  requires kLoadsItems<Ops>
struct ScanItem<Ops> {
  using type = typename Ops::Item;
};

template <class Ops>
SIMT_DEVICE typename Ops::State scan_state(const Ops& ops,
                                           const typename ScanItem<Ops>::type& item) {
  if constexpr (std::is_same_v<typename ScanItem<Ops>::type, typename Ops::State>) {
    return item;
  } else {
    return ops.state(item);
  }
}

/// Items of a lane that its only thread loads at once: few lanes have few threads, which have to
/// wait for much memory together.
template <class Ops>
inline constexpr int kScannedAtOnce = 1;
template <class Ops>
  requires kLoadsItems<Ops>
inline constexpr int kScannedAtOnce<Ops> = sizeof(typename Ops::Item) <= 4 ? 32 : 16;

}  // namespace detail

inline constexpr int kLaneThreads = 64;  // of a block in which each has a lane

template <class Ops>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kLaneThreads) scan_lanes_kernel(LaneTable lanes, Ops ops) {
  constexpr int kAtOnce = detail::kScannedAtOnce<Ops>;
  const int64_t lane = int64_t{simt::block_x()} * kLaneThreads + simt::thread_x();
  if (lane >= lanes.count) return;

  const typename Ops::Place place(lanes, lane);
  typename Ops::State running = ops.start();
  int64_t i = 0;
  for (; i + kAtOnce <= lanes.length; i += kAtOnce) {
    typename detail::ScanItem<Ops>::type items[kAtOnce];
    SIMT_UNROLL
    for (int k = 0; k < kAtOnce; ++k) items[k] = ops.load(place, i + k);
    SIMT_UNROLL
    for (int k = 0; k < kAtOnce; ++k) {
      running = ops.combine(running, detail::scan_state(ops, items[k]));
      ops.store(place, i + k, running);
    }
  }
  if constexpr (kAtOnce > 1) {
    for (; i < lanes.length; ++i) {
      running = ops.combine(running, detail::scan_state(ops, ops.load(place, i)));
      ops.store(place, i, running);
    }
  }
}

namespace detail {

/// The combination of the values of the lanes of a warp up to this one.
template <class Ops>
SIMT_DEVICE typename Ops::State scan_warp(const Ops& ops, typename Ops::State value) {
  const auto lane = static_cast<int>(simt::thread_x() % 32);
  SIMT_UNROLL
  for (int distance = 1; distance < 32; distance *= 2) {
    const auto other = simt::shuffle_up(simt::kFullMask, value, static_cast<unsigned>(distance));
    if (lane >= distance) value = ops.combine(other, value);
  }
  return value;
}

/// The combinations of the values of all threads before this one, and of those of the block.
template <class State, int kRounds>
struct BlockScan {
  State before[kRounds];
  State total;
};

/// `values` has one of each round, which follow each other.
template <int kRounds, class Ops>
SIMT_DEVICE BlockScan<typename Ops::State, kRounds>
scan_block(const Ops& ops, const typename Ops::State (&values)[kRounds]) {
  using State = typename Ops::State;
  constexpr int kWarps = kScanThreads / 32;
  constexpr int kTotals = kRounds * kWarps;
  static_assert(kTotals <= 32);
  SIMT_SHARED(totals, State[kTotals]);
  const auto lane = static_cast<int>(simt::thread_x() % 32);
  const auto warp = static_cast<int>(simt::thread_x() / 32);

  State neighbours[kRounds];
  SIMT_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    const State inclusive = scan_warp(ops, values[round]);
    neighbours[round] = simt::shuffle_up(simt::kFullMask, inclusive, 1);
    if (lane == 31) totals[round * kWarps + warp] = inclusive;
  }
  simt::sync_block();

  const State through = scan_warp(ops, lane < kTotals ? totals[lane] : ops.start());
  const State neighbour = simt::shuffle_up(simt::kFullMask, through, 1);
  const State before = lane == 0 ? ops.start() : neighbour;

  BlockScan<State, kRounds> result;
  SIMT_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    const State warps =
        simt::shuffle_index(simt::kFullMask, before, static_cast<unsigned>(round * kWarps + warp));
    result.before[round] = lane == 0 ? warps : ops.combine(warps, neighbours[round]);
  }
  result.total = simt::shuffle_index(simt::kFullMask, through, kTotals - 1);
  simt::sync_block();  // before the totals are overwritten
  return result;
}

/// The same of one value of each thread.
template <class Ops>
SIMT_DEVICE BlockScan<typename Ops::State, 1> scan_block(const Ops& ops,
                                                         const typename Ops::State& value) {
  const typename Ops::State values[1] = {value};
  return scan_block<1>(ops, values);
}

/// The elements of a tile of which a thread has kScanItems in each round.
template <int kRounds, class Ops>
class ScanTile {
 public:
  using State = typename Ops::State;
  using Place = typename Ops::Place;

  SIMT_DEVICE ScanTile(const Ops& ops, const Place& place, int64_t tile, int64_t length)
      : first_(tile * kTile + simt::thread_x() * kScanItems),
        left_(static_cast<int>(length - first_ < kTile ? length - first_ : kTile)),
        is_packed_(reads_packs(place)) {
    SIMT_UNROLL
    for (int round = 0; round < kRounds; ++round) load(ops, place, round);

    State all[kRounds];
    SIMT_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      all[round] = ops.start();
      SIMT_UNROLL
      for (int i = 0; i < kScanItems; ++i)
        all[round] = ops.combine(all[round], state(ops, round, i));
    }
    scan_ = scan_block<kRounds>(ops, all);
  }

  SIMT_DEVICE State total() const { return scan_.total; }

  /// Writes the running results, which begin with those before the tile.
  SIMT_DEVICE void store(const Ops& ops, const Place& place, State before) const {
    SIMT_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      State value = ops.combine(before, scan_.before[round]);
      State values[kScanItems];
      SIMT_UNROLL
      for (int i = 0; i < kScanItems; ++i)
        values[i] = value = ops.combine(value, state(ops, round, i));
      store_round(ops, place, round, values);
    }
  }

 private:
  using Item = typename ScanItem<Ops>::type;

  static constexpr int kTile = kRounds * kScanRound;
  static constexpr bool kTakesPacks =
      requires(const Ops& ops, const Place& place, Item (&items)[kScanItems]) {
        ops.load_pack(place, int64_t{0}, items);
      };

  SIMT_DEVICE static bool reads_packs([[maybe_unused]] const Place& place) {
    if constexpr (kTakesPacks) return place.is_packed();
    return false;
  }

  SIMT_DEVICE bool exists(int round, int i) const { return round * kScanRound + i < left_; }
  SIMT_DEVICE bool has_pack(int round) const { return is_packed_ && exists(round, kScanItems - 1); }

  SIMT_DEVICE void load(const Ops& ops, const Place& place, int round) {
    const int64_t first = first_ + round * kScanRound;
    if constexpr (kTakesPacks) {
      if (has_pack(round)) return ops.load_pack(place, first, items_[round]);
    }
    SIMT_UNROLL
    for (int i = 0; i < kScanItems; ++i) {
      if (exists(round, i)) items_[round][i] = ops.load(place, first + i);
    }
  }

  /// Neutral behind the end of the lane.
  SIMT_DEVICE State state(const Ops& ops, int round, int i) const {
    return exists(round, i) ? scan_state(ops, items_[round][i]) : ops.start();
  }

  SIMT_DEVICE void store_round(const Ops& ops, const Place& place, int round,
                               const State (&values)[kScanItems]) const {
    const int64_t first = first_ + round * kScanRound;
    if constexpr (kTakesPacks) {
      if (has_pack(round)) return ops.store_pack(place, first, values);
    }
    SIMT_UNROLL
    for (int i = 0; i < kScanItems; ++i) {
      if (exists(round, i)) ops.store(place, first + i, values[i]);
    }
  }

  int64_t first_;
  int left_;  // of the tile from `first_`, where the lane ends in it
  bool is_packed_;
  Item items_[kRounds][kScanItems];
  BlockScan<State, kRounds> scan_;
};

}  // namespace detail

/// A block for each lane.
template <int kRounds, class Ops>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kScanThreads, kScanBlocks<Ops>)
    scan_whole_lanes_kernel(LaneTable lanes, Ops ops) {
  using State = typename Ops::State;
  const typename Ops::Place place(lanes, simt::block_x());
  constexpr int64_t kTile = kRounds * kScanRound;
  const int64_t tiles = (lanes.length + kTile - 1) / kTile;

  State groups = ops.start();
  State in_group = ops.start();
  for (int64_t number = 0; number < tiles; ++number) {
    if (number > 0 && number % kScanGroup == 0) {
      groups = ops.combine(groups, in_group);
      in_group = ops.start();
    }
    const detail::ScanTile<kRounds, Ops> tile(ops, place, number, lanes.length);
    tile.store(ops, place, ops.combine(groups, in_group));
    in_group = ops.combine(in_group, tile.total());
  }
}

/// A block for each tile.
template <int kRounds, class Ops>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kScanThreads, kWaitingBlocks<Ops>)
    scan_tiles_kernel(LaneTable lanes, ScanProgress<typename Ops::State> progress, Ops ops) {
  using State = typename Ops::State;
  SIMT_SHARED(ticket, uint64_t);
  SIMT_SHARED(before_in_group, State);
  SIMT_SHARED(before_group, State);
  if (simt::thread_x() == 0) ticket = simt::atomic_add(progress.tickets, uint64_t{1});
  simt::sync_block();

  // Neighbouring tickets are in different lanes, whose blocks do not wait for each other.
  const auto lane = static_cast<int64_t>(ticket % static_cast<uint64_t>(lanes.count));
  const auto number = static_cast<int64_t>(ticket / static_cast<uint64_t>(lanes.count));
  const typename Ops::Place place(lanes, lane);
  const detail::ScanTile<kRounds, Ops> tile(ops, place, number, lanes.length);

  // Two warps look at once.
  if (simt::warp() == 0) {
    const State before = progress.before_in_group(ops, lane, number, tile.total());
    if (simt::lane() == 0) before_in_group = before;
  } else if (simt::warp() == 1) {
    const State before = progress.before_group(ops, lane, number);
    if (simt::lane() == 0) before_group = before;
  }
  simt::sync_block();
  if (simt::warp() == 0)
    progress.publish_through(ops, lane, number, before_group,
                             ops.combine(before_in_group, tile.total()));
  tile.store(ops, place, ops.combine(before_group, before_in_group));
}

/// One thread per lane.
template <class Ops>
void scan_by_threads(const char* name, const LaneTable& lanes, const Ops& ops) {
  const int64_t blocks = (lanes.count + kLaneThreads - 1) / kLaneThreads;
  c10::cuda::launch(name, &scan_lanes_kernel<Ops>, dim3(static_cast<unsigned>(blocks)),
                    dim3(kLaneThreads), 0, c10::cuda::current_stream(), lanes, ops);
}

namespace detail {

template <int kRounds, class Ops>
void scan_whole_lanes(const char* name, const LaneTable& lanes, const Ops& ops) {
  c10::cuda::launch(name, &scan_whole_lanes_kernel<kRounds, Ops>,
                    dim3(static_cast<unsigned>(lanes.count)), dim3(kScanThreads), 0,
                    c10::cuda::current_stream(), lanes, ops);
}

}  // namespace detail

/// Writes the running results of every lane; `itemsize` is that of the input.
template <class Ops>
void scan(const char* name, const LaneTable& lanes, int64_t itemsize, const Ops& ops) {
  if (lanes.length == 0 || lanes.count == 0) return;
  const bool is_contiguous = lanes.steps[0] == itemsize;
  const bool is_short = lanes.length < (is_contiguous ? 32 : 64);
  if (is_short || (!is_contiguous && lanes.count >= 4096)) return scan_by_threads(name, lanes, ops);

  if (lanes.length <= kScanRound) return detail::scan_whole_lanes<1>(name, lanes, ops);

  constexpr int64_t kManyLanes = 512;
  constexpr int kRounds = kScanRounds<Ops>;
  constexpr int64_t kTile = kRounds * kScanRound;
  const int64_t tiles = (lanes.length + kTile - 1) / kTile;
  if (tiles == 1 || lanes.count >= kManyLanes)
    return detail::scan_whole_lanes<kRounds>(name, lanes, ops);

  ScanProgress<typename Ops::State> progress;
  const c10::DataPtr memory = progress.allocate(lanes.count, tiles);
  c10::cuda::launch(name, &scan_tiles_kernel<kRounds, Ops>,
                    dim3(static_cast<unsigned>(lanes.count * tiles)), dim3(kScanThreads), 0,
                    c10::cuda::current_stream(), lanes, progress, ops);
}

}  // namespace at::native::cuda
