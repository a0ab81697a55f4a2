// The threads that share a row, and what they compute together.
#pragma once
#include <cstdint>

#include "aten/native/cuda/Division.h"
#include "c10/cuda/Simt.h"
#include "c10/util/Export.h"

// Note [Order of row sums]
// Threads add their elements in ascending order, and their results are joined pairwise in an order
// that depends on nothing but the number of threads. The lower thread's result is always the left
// operand, so all threads end with the same bits even where an operation does not commute.

namespace at::native::cuda {

/// The largest of two numbers, as the CPU's kernels compare. A NaN may get lost: sums keep it.
struct Larger {
  template <class T>
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

struct Added {
  template <class T>
  C10_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

/// Two sums that threads join at once.
template <class T>
struct TwoSums {
  T first, second;

  C10_HOST_DEVICE TwoSums operator+(const TwoSums& other) const {
    return {first + other.first, second + other.second};
  }
};

namespace detail {

/// Of the lane at distance `offset`; a class larger than 16 bytes has its own.
template <class T>
SIMT_DEVICE T partner_value(const T& value, unsigned offset) {
  if constexpr (requires { value.of_partner(offset); }) {
    return value.of_partner(offset);
  } else {
    return simt::shuffle_xor(simt::kFullMask, value, offset);
  }
}

/// All lanes get the result.
template <class T, class Op>
SIMT_DEVICE T combine_lanes(T value, const Op& op) {
  SIMT_UNROLL
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const T other = partner_value(value, offset);
    value = (simt::lane() & offset) != 0 ? op(other, value) : op(value, other);
  }
  return value;
}

}  // namespace detail

/// A warp, of which a block may have several, or a whole block: the threads with equal y.
class RowThreads {
 public:
  SIMT_DEVICE int index() const { return static_cast<int>(simt::thread_x()); }
  SIMT_DEVICE int count() const { return static_cast<int>(simt::block_dim_x()); }
  /// Whether this thread stores what there is once per row.
  SIMT_DEVICE bool leads() const { return simt::thread_x() == 0; }

  /// Joins one value of each thread; `none` changes nothing as an operand.
  template <class T, class Op>
  SIMT_DEVICE T combine(T value, T none, const Op& op) {
    value = detail::combine_lanes(value, op);
    return simt::block_dim_x() == 32 ? value : combine_warps(value, none, op);
  }

 private:
  template <class T, class Op>
  SIMT_DEVICE T combine_warps(T value, T none, const Op& op) {
    // Two buffers take turns: a warp may be done with this call while another still reads.
    SIMT_SHARED(parts, T[2][32]);
    T* const part = parts[turn_];
    turn_ ^= 1;

    if (simt::lane() == 0) part[simt::warp()] = value;
    simt::sync_block();
    return detail::combine_lanes(
        simt::lane() < simt::block_dim_x() / 32 ? part[simt::lane()] : none, op);
  }

  unsigned turn_ = 0;
};

/// The threads with equal x of a block whose height is a power of two. Those of columns beyond the
/// last one take part in everything except storing.
class ColumnThreads {
 public:
  static constexpr int kMost = 512;  // threads of a block

  SIMT_DEVICE explicit ColumnThreads(bool inside) : inside_(inside) {}

  SIMT_DEVICE int index() const { return static_cast<int>(simt::thread_y()); }
  SIMT_DEVICE int count() const { return static_cast<int>(simt::block_dim_y()); }
  SIMT_DEVICE bool leads() const { return inside_ && simt::thread_y() == 0; }

  template <class T, class Op>
  SIMT_DEVICE T combine(T value, T, const Op& op) {
    SIMT_SHARED(parts, T[kMost]);
    const unsigned width = simt::block_dim_x();
    T* const part = &parts[simt::thread_y() * width + simt::thread_x()];
    *part = value;
    simt::sync_block();

    for (unsigned half = simt::block_dim_y() / 2; half > 0; half /= 2) {
      if (simt::thread_y() < half) *part = op(*part, part[half * width]);
      simt::sync_block();
    }

    const T result = parts[simt::thread_x()];
    simt::sync_block();  // before the next call writes
    return result;
  }

 private:
  bool inside_;
};

}  // namespace at::native::cuda
