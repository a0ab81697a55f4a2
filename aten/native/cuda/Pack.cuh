// Pack: neighbouring elements that are read or written by one instruction.
#pragma once
#include <cstddef>

namespace at::native::cuda {

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T values[kWidth];
};

/// The elements of 16 bytes.
template <class T>
inline constexpr int kPackWidth = sizeof(T) < 16 ? 16 / static_cast<int>(sizeof(T)) : 1;

}  // namespace at::native::cuda
