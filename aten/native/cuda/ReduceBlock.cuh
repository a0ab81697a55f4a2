// What the threads of a block do together in a reduction.
#pragma once
#include "aten/native/cuda/ReduceShape.h"
#include "c10/cuda/Simt.h"

namespace at::native::cuda {

/// Where the results of a reduction go, and the parts of long ones. Note [Device reductions].
struct ReduceTarget {
  char* data[3];       // the result, the input and the second result, if there is one
  void* parts;         // one per piece and result
  unsigned* counters;  // finished pieces, all 0 at first
};

/// Whether Ops is given the position of an element.
template <class Ops>
inline constexpr bool kTakesIndex =
    requires(const Ops& ops, typename Ops::acc_t acc, typename Ops::input_t value) {
      ops.reduce(acc, value, int64_t{0});
    };

template <class Ops>
SIMT_DEVICE typename Ops::acc_t reduce_element(const Ops& ops, typename Ops::acc_t acc,
                                               typename Ops::input_t value,
                                               [[maybe_unused]] int64_t index) {
  if constexpr (kTakesIndex<Ops>) {
    return ops.reduce(acc, value, index);
  } else {
    return ops.reduce(acc, value);
  }
}

/// The Ops of one result. Those that count from an element, to lose no digits of what all elements
/// have in common, are given the first one.
template <class Ops>
SIMT_DEVICE Ops ops_from(const Ops& ops, [[maybe_unused]] const char* first) {
  if constexpr (requires { ops.counted_from(typename Ops::input_t()); }) {
    return ops.counted_from(*reinterpret_cast<const typename Ops::input_t*>(first));
  } else {
    return ops;
  }
}

/// Writes a result; `offset` and `second` are byte offsets in the results.
template <class Ops>
SIMT_DEVICE void store_result(const Ops& ops, const ReduceTarget& target, typename Ops::acc_t acc,
                              int64_t offset, [[maybe_unused]] int64_t second) {
  *reinterpret_cast<typename Ops::output_t*>(target.data[0] + offset) = ops.project(acc);
  if constexpr (requires { ops.project_second(acc); }) {
    if (target.data[2] != nullptr) {
      *reinterpret_cast<typename Ops::second_t*>(target.data[2] + second) = ops.project_second(acc);
    }
  }
}

/// The accumulators of one thread, as a tree.
template <int kCount, class Ops>
SIMT_DEVICE typename Ops::acc_t fold(const Ops& ops, typename Ops::acc_t (&acc)[kCount]) {
  SIMT_UNROLL
  for (int width = kCount / 2; width > 0; width /= 2) {
    SIMT_UNROLL
    for (int i = 0; i < width; ++i) acc[i] = ops.combine(acc[i], acc[i + width]);
  }
  return acc[0];
}

/// Combines the values of each group of `across` neighbouring threads, a power of two; the first
/// thread of a group gets the result. All threads of the block must call it.
template <class Ops>
SIMT_DEVICE typename Ops::acc_t reduce_group(const Ops& ops, typename Ops::acc_t value,
                                             int across) {
  using acc_t = typename Ops::acc_t;
  const int in_warp = across < 32 ? across : 32;
  for (int step = in_warp / 2; step > 0; step /= 2)
    value = ops.combine(value, simt::shuffle_down(simt::kFullMask, value, step, in_warp));
  if (across <= 32) return value;

  // The first warp of a group combines the results of its warps.
  SIMT_SHARED(memory, ulonglong2[kReduceThreads / 32]);
  const unsigned lane = simt::thread_x() % 32;
  const unsigned warp = simt::thread_x() / 32;
  const unsigned warps = across / 32;
  if (lane == 0) *reinterpret_cast<acc_t*>(&memory[warp]) = value;
  simt::sync_block();

  value = lane < warps && warp % warps == 0 ? *reinterpret_cast<acc_t*>(&memory[warp + lane])
                                            : ops.identity();
  for (int step = kReduceThreads / 64; step > 0; step /= 2)
    value = ops.combine(value, simt::shuffle_down(simt::kFullMask, value, step));
  simt::sync_block();  // the memory may be used again
  return value;
}

/// Says that the block has written its parts. True in all threads of the last of `pieces` blocks
/// with this counter, which then sees the parts of all others.
SIMT_DEVICE bool is_last_piece(unsigned* counter, unsigned pieces) {
  SIMT_SHARED(is_last, bool);
  simt::fence();
  simt::sync_block();
  if (simt::thread_x() == 0) is_last = simt::atomic_add(counter, 1u) == pieces - 1;
  simt::sync_block();
  simt::fence();
  return is_last;
}

}  // namespace at::native::cuda
