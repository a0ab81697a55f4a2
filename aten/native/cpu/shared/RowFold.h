#pragma once
// Sums and maxima of a row, for files that are compiled once per instruction set.
#include <cstdint>

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

inline constexpr int64_t kFoldLanes = 32;  // independent accumulators

/// Folds elements 0 to n - 1 with step(accumulator, i) in kFoldLanes accumulators, and these with
/// join(a, b). The order depends only on n.
template <typename T, typename Step, typename Join>
T fold(int64_t n, T start, const Step& step, const Join& join) {
  T lanes[kFoldLanes];
  for (int64_t j = 0; j < kFoldLanes; ++j) lanes[j] = start;

  int64_t i = 0;
  for (; i + kFoldLanes <= n; i += kFoldLanes) {
    for (int64_t j = 0; j < kFoldLanes; ++j) lanes[j] = step(lanes[j], i + j);
  }
  for (int64_t j = 0; i < n; ++i, ++j) lanes[j] = step(lanes[j], i);

  for (int64_t width = kFoldLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; ++j) lanes[j] = join(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

template <typename T>
T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T added(T a, T b) {
  return a + b;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
