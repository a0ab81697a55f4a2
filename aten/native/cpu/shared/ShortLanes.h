#pragma once
// The order of elements in short lanes, of many lanes at once.
#include <cstdint>

#include "aten/dispatch/ChooseKernel.h"
#include "aten/iteration/BlockCopy.h"
#include "c10/core/ScalarType.h"

namespace at::native {

constexpr int64_t kShortLane = 16;       // the most elements of a short lane
constexpr int64_t kShortLaneGroup = 64;  // the most lanes of a group

/// A group of `width` lanes of `size` elements, and the results of each. Dimension 0 of the sides
/// goes from lane to lane, dimension 1 along a lane.
struct ShortLanes {
  BlockSide elements;
  BlockSide values;   // of the dtype of the elements
  BlockSide indices;  // int64
  int64_t size;
  int64_t width;
};

/// Which element of a lane is selected. nan is larger than every number.
enum class LaneChoice : uint8_t {
  Rank,       // that of a given rank
  Median,     // the lower median, or the first nan
  NanMedian,  // the lower median of the numbers
  Mode        // the last of the lowest of the most frequent; every nan is a number of its own
};

struct Selection {
  LaneChoice choice;
  int64_t rank = 0;  // for LaneChoice::Rank
};

/// Writes the first `count` elements of every lane in order, and their indices. Equal elements keep
/// the order of their indices.
TORCH_PY_KERNEL(void sort_short_lanes(ScalarType type, const ShortLanes& lanes, bool descending,
                                      int64_t count))

/// Writes the selected element of every lane, and its index.
TORCH_PY_KERNEL(void choose_in_short_lanes(const char* name, ScalarType type,
                                           const ShortLanes& lanes, const Selection& selection))

}  // namespace at::native
