// Selecting elements of every lane by their rank, without sorting the lane.
#pragma once
#include "aten/native/cuda/Lanes.cuh"

// Note [Selection]
// An element's key (RadixSort.h) orders it. The key of a given rank is found digit by digit, the
// highest first: among the elements that have the digits known so far, those with each value of the
// next digit are counted, and the value whose count reaches the rank is that digit. A last pass
// goes through the lane and finds the elements before the selected one: those with a smaller key,
// and of those with an equal key the earlier ones. This is the choice of a stable sort.
//
// A block has a lane. Where there are few lanes, several blocks share one, and one launch per digit
// adds up their counts. Integers are added by atomics, so that the order does not matter.

namespace at::native::cuda {

/// Which element of a lane to select: the one of a rank, or a median.
struct SelectedRank {
  enum class Kind : uint8_t { Given, Median, MedianOfNumbers };

  Kind kind = Kind::Given;
  int64_t given = 0;

  /// NaN comes after all numbers; the median of a lane with NaN is the first NaN.
  SIMT_DEVICE int64_t in(int64_t numbers, int64_t length) const {
    if (kind == Kind::Given) return given;
    if (kind == Kind::MedianOfNumbers) return numbers > 0 ? (numbers - 1) / 2 : 0;
    return numbers < length ? numbers : (length - 1) / 2;
  }
};

/// Selects an element of each lane of operand 0, and writes its index in the lane, an int64 per
/// lane.
void select_one(const char* name, const LaneTable& lanes, ScalarType type, SelectedRank rank,
                int64_t* indices);

/// Writes the indices of the first `count` elements of each lane's stable order, lane after lane
/// and ascending in each.
void select_first(const char* name, const LaneTable& lanes, ScalarType type, bool descending,
                  int64_t count, int64_t* indices);

}  // namespace at::native::cuda
