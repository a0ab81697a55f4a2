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
    return place(load(i), offset, reporter);
  }

  SIMT_DEVICE int64_t load(int64_t i) const {
    return is_long ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
  SIMT_DEVICE bool place(int64_t index, int64_t& offset, const simt::Reporter& reporter) const {
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
};

inline constexpr int kGatheredAtOnce = 4;  // by a thread, which waits for two loads after another

template <class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kPerIndexThreads)
    gather_kernel_of(GatherElements<T> elements, simt::Reporter reporter) {
  constexpr int64_t kTile = int64_t{kGatheredAtOnce} * kPerIndexThreads;
  const IndexSource& index = elements.index;
  const int64_t n = elements.geometry.numel;
  const int64_t step = simt::grid_dim_x() * kTile;

  for (int64_t first = simt::block_x() * kTile + simt::thread_x(); first < n; first += step) {
    int64_t offsets[kGatheredAtOnce][3];
    int64_t indices[kGatheredAtOnce];
    SIMT_UNROLL
    for (int k = 0; k < kGatheredAtOnce; ++k) {
      const int64_t i = first + k * kPerIndexThreads;
      elements.geometry.find(i < n ? i : first, offsets[k]);
      indices[k] = index.load(offsets[k][2]);
    }

    // What is out of range is reported, and read at 0 if there is an element.
    SIMT_UNROLL
    for (int k = 0; k < kGatheredAtOnce; ++k) {
      const bool exists = first + k * kPerIndexThreads < n;
      int64_t found = 0;
      if (exists && index.place(indices[k], found, reporter)) offsets[k][1] += found;
    }
    if (index.extent == 0) return;

    T values[kGatheredAtOnce];
    SIMT_UNROLL
    for (int k = 0; k < kGatheredAtOnce; ++k)
      values[k] = *reinterpret_cast<const T*>(elements.in + offsets[k][1]);
    SIMT_UNROLL
    for (int k = 0; k < kGatheredAtOnce; ++k) {
      if (first + k * kPerIndexThreads < n)
        *reinterpret_cast<T*>(elements.out + offsets[k][0]) = values[k];
    }
  }
}

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
