// Reading and writing elements whose addresses depend on indices in the memory of the device.
#pragma once
#include <cstdint>

#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"

namespace at::native::cuda {

using c10::cuda::ReportKind;

/// Indices along one dimension, and what they stand for.
struct IndexSource {
  static constexpr int64_t kUnchecked = -1;

  const void* data = nullptr;  // int64, or int32
  int64_t extent = 0;          // of the dimension; kUnchecked: offsets of elements that exist
  int64_t step = 1;            // bytes from one position to the next
  ReportKind kind = ReportKind::IndexRange;
  int argument = -1;   // in reports: the position in the operator's schema
  int dimension = -1;  // that the indices are along
  bool is_long = true;
  bool wraps = false;  // negative indices count from the end

  /// The offset that index number i stands for. Reports an index out of range and returns false.
  SIMT_DEVICE bool find(int64_t i, int64_t& offset, const simt::Reporter& reporter) const {
    const int64_t index =
        is_long ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
    const int64_t position = wraps && index < 0 ? index + extent : index;
    offset = position * step;
    if (extent == kUnchecked || (position >= 0 && position < extent)) return true;

    simt::report(reporter, kind, argument, index, extent, dimension);
    return false;
  }
};

// In both loops below, operands 0 and 1 of the geometry are the memory that is written and read,
// without the part of the offset that the index decides; operand 2 is the number of the index.

/// out = in[index]
template <class T>
struct GatherElements {
  Geometry<3> geometry;
  char* out;
  const char* in;
  IndexSource index;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    int64_t offsets[3];
    geometry.find(i, offsets);
    int64_t found = 0;
    if (!index.find(offsets[2], found, reporter)) {
      if (index.extent == 0) return;
      found = 0;
    }
    *reinterpret_cast<T*>(out + offsets[0]) = *reinterpret_cast<const T*>(in + offsets[1] + found);
  }
};

/// How one of several values for the same element is chosen: the last one.
struct LastWins {
  // Of a scatter: for each element of the result, the last position along the dimension that writes
  // to it. Operand 3 of the geometry is the position.
  const int32_t* owners = nullptr;
  int64_t itemsize = 1;

  // Of index_put: the index source is sorted, and `order` says where each came from.
  const int64_t* order = nullptr;
  int64_t count = 0;
  int64_t source_step = 0;  // bytes from one value to the next
};

/// out[index] = in, or a number where `in` is null.
template <class T>
struct PutElements {
  Geometry<4> geometry;
  char* out;
  const char* in;
  IndexSource index;
  LastWins last;
  int64_t absent;  // the offset that stands for an index out of range
  T number;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    int64_t offsets[4];
    geometry.find(i, offsets);
    int64_t found = 0;
    if (!index.find(offsets[2], found, reporter) || found == absent) return;

    if (last.order != nullptr) {
      const int64_t slot = offsets[2];
      const auto* keys = static_cast<const int64_t*>(index.data);
      if (slot + 1 < last.count && keys[slot + 1] == keys[slot]) return;
      offsets[1] += last.order[slot] * last.source_step;
    }

    const int64_t target = offsets[0] + found;
    if (last.owners != nullptr && last.owners[target / last.itemsize] != offsets[3]) return;
    *reinterpret_cast<T*>(out + target) =
        in == nullptr ? number : *reinterpret_cast<const T*>(in + offsets[1]);
  }
};

}  // namespace at::native::cuda
