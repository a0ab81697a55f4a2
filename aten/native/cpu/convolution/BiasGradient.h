#pragma once
// Sums of a gradient over samples and positions, for the bias. Included by files compiled once per
// instruction set.
#include <algorithm>
#include <type_traits>

#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// The sums of the columns of a matrix (rows, columns).
template <typename T>
void sum_columns(const T* values, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / (kBlock * std::max<int64_t>(1, rows)));

  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      const int64_t width = std::min(kBlock, columns - first);
      double sums[kBlock] = {};
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < width; ++i)
          sums[i] += static_cast<double>(values[row * columns + first + i]);
      }
      for (int64_t i = 0; i < width; ++i) out[first + i] = static_cast<T>(sums[i]);
    }
  });
}

/// The gradient of the bias: sums of `grad` (batch, channels, plane) over samples and positions.
template <typename T>
void bias_gradient(const T* grad, int64_t batch, int64_t channels, int64_t plane, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 8, double, float>;
  constexpr int64_t kLanes = 16;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, batch * plane));

  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      double total = 0;

      for (int64_t n = 0; n < batch; ++n) {
        const T* row = grad + (n * channels + channel) * plane;
        Sum lanes[kLanes] = {};
        int64_t i = 0;
        for (; i + kLanes <= plane; i += kLanes) {
          for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<Sum>(row[i + j]);
        }
        for (int64_t j = 0; i < plane; ++i, ++j) lanes[j] += static_cast<Sum>(row[i]);
        for (const Sum lane : lanes) total += lane;
      }

      out[channel] = static_cast<T>(total);
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
