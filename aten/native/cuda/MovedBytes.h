// Kernels that only move elements: one instance per size of what a thread moves.
#pragma once
#include <cstdint>

#include "aten/native/cuda/Geometry.h"
#include "c10/util/complex.h"

namespace at::native::cuda {

/// Calls f with a value of a type of this many bytes.
template <class F>
void with_moved_type(int64_t bytes, const F& f) {
  switch (bytes) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(c10::complex<double>());
  }
}

/// Lets each index of a loop stand for several adjacent elements, up to 16 bytes, where both of
/// operands 0 and 1, which are memory with strides in bytes, allow it. Other operands are positions
/// that must not change within what is moved. `step` is another distance in bytes that is added to
/// addresses. Returns the bytes that an index stands for.
template <int K>
int64_t widen(Geometry<K>& geometry, int64_t itemsize, const void* first, const void* second,
              int64_t step = 0) {
  if (geometry.dims == 0 || geometry.numel == 0) return itemsize;
  for (int k = 0; k < K; ++k) {
    if (geometry.strides[k][0] != (k < 2 ? itemsize : 0)) return itemsize;
  }

  // What all addresses have in common.
  uint64_t all = reinterpret_cast<uintptr_t>(first) | reinterpret_cast<uintptr_t>(second) |
                 static_cast<uint64_t>(step) | static_cast<uint64_t>(geometry.sizes[0] * itemsize);
  for (int d = 1; d < geometry.dims; ++d)
    all |= static_cast<uint64_t>(geometry.strides[0][d] | geometry.strides[1][d]);

  int64_t bytes = itemsize;
  while (bytes < 16 && all % static_cast<uint64_t>(bytes * 2) == 0) bytes *= 2;
  const int64_t width = bytes / itemsize;
  if (width == 1) return itemsize;

  geometry.numel /= width;
  geometry.sizes[0] /= width;
  geometry.strides[0][0] = bytes;
  geometry.strides[1][0] = bytes;
  geometry.prepare();
  return bytes;
}

}  // namespace at::native::cuda
