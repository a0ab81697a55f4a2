// What blocks that share a lane tell each other of its running results. See Note [Scans].
#pragma once
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

inline constexpr int kScanGroup = 32;  // tiles

/// Totals of tiles and of groups of tiles, lane after lane. A value may be read when its flag is
/// set.
template <class State>
struct ScanProgress {
  State* tiles;
  State* groups;         // the total of a group
  State* through_group;  // all groups of the lane up to this one
  unsigned* tile_flags;
  unsigned* group_flags;
  unsigned* through_flags;
  uint64_t* tickets;
  int64_t tiles_per_lane;
  int64_t groups_per_lane;

  /// Memory in which no flag is set.
  c10::DataPtr allocate(int64_t lanes, int64_t tile_count) {
    tiles_per_lane = tile_count;
    groups_per_lane = (tile_count + kScanGroup - 1) / kScanGroup;
    const auto all_tiles = static_cast<size_t>(lanes * tiles_per_lane);
    const auto all_groups = static_cast<size_t>(lanes * groups_per_lane);
    const size_t flags = sizeof(uint64_t) + (all_tiles + 2 * all_groups) * sizeof(unsigned);
    const size_t begin = (flags + 15) / 16 * 16;

    c10::DataPtr memory = c10::cuda::device_allocator().allocate(
        begin + (all_tiles + 2 * all_groups) * sizeof(State));
    C10_CUDA_CHECK(cudaMemsetAsync(memory.get(), 0, flags, c10::cuda::current_stream()));

    tickets = static_cast<uint64_t*>(memory.get());
    tile_flags = reinterpret_cast<unsigned*>(tickets + 1);
    group_flags = tile_flags + all_tiles;
    through_flags = group_flags + all_groups;
    tiles = reinterpret_cast<State*>(static_cast<char*>(memory.get()) + begin);
    groups = tiles + all_tiles;
    through_group = groups + all_groups;
    return memory;
  }

  // All threads of a warp call these, and all get the result.

  /// Publishes the total of a tile, and returns what the tiles before it in its group combine to.
  template <class Ops>
  SIMT_DEVICE State before_in_group(const Ops& ops, int64_t lane, int64_t number,
                                    const State& total) const {
    const int64_t group = number / kScanGroup;
    const auto place = static_cast<int>(number % kScanGroup);
    const int64_t first = lane * tiles_per_lane + group * kScanGroup;
    publish(tiles, tile_flags, first + place, total);

    const State in_group = fold(ops, ops.start(), tiles, tile_flags, first, place);
    if (ends_group(number))
      publish(groups, group_flags, lane * groups_per_lane + group, ops.combine(in_group, total));
    return in_group;
  }

  /// The combination of the groups before that of a tile. Begins at the last group through which
  /// another block has combined all: the order of the combinations is the same wherever that is.
  template <class Ops>
  SIMT_DEVICE State before_group(const Ops& ops, int64_t lane, int64_t number) const {
    const int64_t group = number / kScanGroup;
    const int64_t first_group = lane * groups_per_lane;
    if (group == 0) return ops.start();

    // The first group needs no other one. Lane i looks at the group i places before `last`.
    int64_t begin = 0;
    State result = ops.start();
    for (int64_t last = group - 1; last >= 0; last -= 32) {
      const int64_t candidate = last - static_cast<int64_t>(simt::lane());
      const bool is_through =
          candidate >= 0 && simt::load_acquire(through_flags + first_group + candidate) != 0;
      const State through = is_through ? through_group[first_group + candidate] : ops.start();
      const unsigned found = simt::ballot(simt::kFullMask, is_through);
      if (found == 0) continue;

      const int nearest = simt::find_first_set(found) - 1;
      begin = last - nearest + 1;
      result = simt::shuffle_index(simt::kFullMask, through, static_cast<unsigned>(nearest));
      break;
    }

    for (; begin < group; begin += 32) {
      const int64_t rest = group - begin;
      result = fold(ops, result, groups, group_flags, first_group + begin,
                    static_cast<int>(rest < 32 ? rest : 32));
    }
    return result;
  }

  /// To be called with the combination of what was before the group of a tile, and in it up to the
  /// tile's end.
  template <class Ops>
  SIMT_DEVICE void publish_through(const Ops& ops, int64_t lane, int64_t number,
                                   const State& earlier, const State& in_group) const {
    if (ends_group(number))
      publish(through_group, through_flags, lane * groups_per_lane + number / kScanGroup,
              ops.combine(earlier, in_group));
  }

 private:
  SIMT_DEVICE static bool ends_group(int64_t number) {
    return number % kScanGroup == kScanGroup - 1;
  }

  SIMT_DEVICE static void publish(State* values, unsigned* flags, int64_t at, const State& value) {
    if (simt::lane() == 0) {
      values[at] = value;
      simt::store_release(flags + at, 1u);
    }
    simt::sync_warp(simt::kFullMask);
  }

  SIMT_DEVICE static State wait_for(const State* values, const unsigned* flags, int64_t at) {
    while (simt::load_acquire(flags + at) == 0) simt::pause();
    return values[at];
  }

  /// Combines `count` values, at most 32, with what is before them, one after another.
  template <class Ops>
  SIMT_DEVICE static State fold(const Ops& ops, State before, const State* values,
                                const unsigned* flags, int64_t first, int count) {
    // Shuffles, none of which waits for a combination.
    constexpr int kAtOnce = sizeof(State) <= 8 ? 4 : 1;
    const auto lane = static_cast<int>(simt::lane());
    State mine = ops.start();
    if (lane < count) mine = wait_for(values, flags, first + lane);
    simt::sync_warp(simt::kFullMask);
    for (int i = 0; i < count; i += kAtOnce) {
      State several[kAtOnce];
      SIMT_UNROLL
      for (int k = 0; k < kAtOnce; ++k)
        several[k] = simt::shuffle_index(simt::kFullMask, mine, static_cast<unsigned>(i + k));
      SIMT_UNROLL
      for (int k = 0; k < kAtOnce; ++k) before = ops.combine(before, several[k]);
    }
    return before;
  }
};

}  // namespace at::native::cuda
