#pragma once
// The bin of a value, for host and device.
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {
namespace {

/// How the bin of a value is found: by binary search, by a formula for equal widths, or by that
/// formula and then by comparing with the edges.
enum class BinPlacement : uint8_t { Search, Formula, Guess };

/// The bins of one coordinate. The last bin includes its upper edge; find() returns -1 for values
/// outside all bins and for nan.
template <typename T>
struct HistogramBins {
  const T* edges;
  int64_t count;
  BinPlacement placement;

  C10_HOST_DEVICE int64_t find(T value) const {
    const T first = edges[0];
    const T last = edges[count];
    if (!(value >= first && value <= last)) return -1;

    // The difference of distant numbers, or its product with the count, may be infinite.
    const T guess = (value - first) * static_cast<T>(count) / (last - first);
    const bool is_finite = guess - guess == 0;
    if (placement == BinPlacement::Search || !is_finite) return search(value);

    int64_t place = static_cast<int64_t>(guess);
    if (place > count - 1) place = count - 1;
    if (placement == BinPlacement::Formula) return place;

    // The edges are rounded, so they decide between the guess and its neighbours.
    while (place > 0 && value < edges[place]) --place;
    while (place + 1 < count && value >= edges[place + 1]) ++place;
    return place;
  }

 private:
  /// The last bin that begins at `value` or below.
  C10_HOST_DEVICE int64_t search(T value) const {
    int64_t begin = 0;
    int64_t end = count - 1;
    while (begin < end) {
      const int64_t middle = begin + (end - begin + 1) / 2;
      if (value >= edges[middle]) {
        begin = middle;
      } else {
        end = middle - 1;
      }
    }
    return begin;
  }
};

}  // namespace
}  // namespace at::native
