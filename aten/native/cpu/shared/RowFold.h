#pragma once
// Sums and maxima of a row, for files that are compiled once per instruction set.
#include <cstdint>

#include "aten/iteration/LaneLoop.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Folds the accumulators with join(a, b), halves of them at a time. Inlined, as accumulators whose
/// address is passed on do not stay in registers.
template <int64_t kCount, typename T, typename Join>
C10_ALWAYS_INLINE T fold_lanes(T (&lanes)[kCount], const Join& join) {
#pragma GCC unroll 6
  for (int64_t width = kCount / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; ++j) lanes[j] = join(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

/// Folds elements 0 to n - 1 with step(accumulator, i) in kCount accumulators, and these with
/// join(a, b). What is left at the end is folded on its own, so that the accumulators stay in
/// registers.
template <int64_t kCount, typename T, typename Step, typename Join>
T fold_in_lanes(int64_t n, T start, const Step& step, const Join& join) {
  T lanes[kCount];
  for (int64_t j = 0; j < kCount; ++j) lanes[j] = start;

  int64_t i = 0;
  for (; i + kCount <= n; i += kCount)
    for_each_lane<kCount>([&](int64_t j) { lanes[j] = step(lanes[j], i + j); });

  T rest = start;
  for (; i < n; ++i) rest = step(rest, i);
  return join(fold_lanes(lanes, join), rest);
}

// Rows that are shorter take half as many accumulators, whose folding would take longer than the
// row.
inline constexpr int64_t kLongRow = 256;
inline constexpr int64_t kFoldLanes = 32;

/// Folds elements 0 to n - 1. The order depends only on n.
template <typename T, typename Step, typename Join>
T fold(int64_t n, T start, const Step& step, const Join& join) {
  return n < kLongRow ? fold_in_lanes<kFoldLanes / 2>(n, start, step, join)
                      : fold_in_lanes<kFoldLanes>(n, start, step, join);
}

/// The sum of f(0) to f(n - 1), where f takes so long that the last elements are computed in
/// vectors as well. f may store its values.
template <int64_t kCount, typename T, typename F>
T sum_in_lanes(int64_t n, const F& f) {
  T lanes[kCount] = {};
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount)
    for_each_lane<kCount>([&](int64_t j) { lanes[j] += f(i + j); });

  T values[kCount];
  const int64_t left = n - i;
#pragma GCC ivdep
  for (int64_t j = 0; j < left; ++j) values[j] = f(i + j);
  T rest = 0;
  for (int64_t j = 0; j < left; ++j) rest += values[j];

  return fold_lanes(lanes, [](T a, T b) { return a + b; }) + rest;
}

template <typename T, typename F>
T sum_of(int64_t n, const F& f) {
  return n < kLongRow ? sum_in_lanes<kFoldLanes / 2, T>(n, f) : sum_in_lanes<kFoldLanes, T>(n, f);
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
