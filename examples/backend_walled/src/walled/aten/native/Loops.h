// The loop of pointwise kernels: over all elements of a plan, in the memory of the device.
#pragma once
#include <cstring>

#include "Memory.h"
#include "aten/iteration/TensorIterator.h"

namespace at::native::walled {

/// Calls `function(out, in...)` with the addresses of the elements of every operand.
template <int kOperands, class Function>
void each_element(const TensorIteratorBase& iter, const Function& function) {
  if (iter.numel() == 0) return;

  char* data[kOperands];
  for (int k = 0; k < kOperands; ++k) data[k] = inside(iter.data(k));

  // Counts through the dimensions, the first of which is the fastest.
  const IntArrayRef shape = iter.shape();
  DimVector place(shape.size(), 0);
  while (true) {
    function(data);

    int d = 0;
    for (; d < iter.dim(); ++d) {
      for (int k = 0; k < kOperands; ++k) data[k] += iter.strides(k)[d];
      if (++place[d] < shape[d]) break;
      for (int k = 0; k < kOperands; ++k) data[k] -= iter.strides(k)[d] * shape[d];
      place[d] = 0;
    }
    if (d == iter.dim()) return;
  }
}

template <class T>
T value_at(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T, class Function>
void unary(const TensorIteratorBase& iter, const Function& function) {
  each_element<2>(iter, [&](char* const* data) {
    const T result = function(value_at<T>(data[1]));
    std::memcpy(data[0], &result, sizeof(T));
  });
}

template <class T, class Function>
void binary(const TensorIteratorBase& iter, const Function& function) {
  each_element<3>(iter, [&](char* const* data) {
    const T result = function(value_at<T>(data[1]), value_at<T>(data[2]));
    std::memcpy(data[0], &result, sizeof(T));
  });
}

}  // namespace at::native::walled
