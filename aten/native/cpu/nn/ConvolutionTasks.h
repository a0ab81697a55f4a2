#pragma once
// How convolutions are cut into pieces for the cache and for threads. Included by files compiled
// once per instruction set.
#include <algorithm>

#include "aten/native/cpu/shared/Tasks.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// How many columns of `rows` elements to gather at once before they are multiplied by a weight of
/// `outputs` x `rows`. Their matrix stays in the cache (half a megabyte), unless there are so many
/// outputs that a product with fewer columns would mostly read the weight.
inline int64_t columns_at_once(int64_t rows, int64_t outputs) {
  const int64_t in_cache = (int64_t{1} << 17) / std::max<int64_t>(1, rows);
  return std::clamp<int64_t>(std::max(in_cache, std::min<int64_t>(2 * outputs, 512)), 128, 1024);
}

/// How many partial sums of `size` elements to make from `chunks` chunks, before they are added up:
/// at most 16, and at most about four million elements.
inline int64_t separate_sums(int64_t chunks, int64_t size) {
  return std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(1, size), 1,
                             std::clamp<int64_t>(chunks, 1, 16));
}

/// target[i] = sum of slices[i + k * size], in order of k.
template <typename T>
void add_slices(const T* slices, int64_t count, int64_t size, T* target) {
  parallel_for(0, size, kDefaultGrainSize / 4, [&](int64_t begin, int64_t end) {
    std::copy(slices + begin, slices + end, target + begin);
    for (int64_t k = 1; k < count; ++k) {
      for (int64_t i = begin; i < end; ++i) target[i] += slices[k * size + i];
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
