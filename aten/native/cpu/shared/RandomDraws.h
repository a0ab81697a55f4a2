#pragma once
// Draws of random numbers from a generator. The calling kernels hold its lock.
//
// Note [Random numbers]
// A seed gives the same numbers as in PyTorch on the CPU: elements are drawn in the order of memory
// from one Mersenne Twister, for any number of threads. A float takes the low 24 bits of a 32-bit
// word, a double the low 53 bits of two words, the first of which is the upper half. Words are
// drawn in blocks, so that the arithmetic on them vectorises.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/random/Ranges.h"
#include "c10/core/Generator.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Elements drawn at once, whose words stay in the first-level cache.
constexpr int64_t kDraws = 256;
constexpr uint64_t kMantissa = (uint64_t{1} << 53) - 1;

inline Generator& generator_or_default(Generator* generator) {
  return generator != nullptr ? *generator : default_cpu_generator();
}

/// Draws `count` words of 64 bits, at most kDraws.
inline void draw_words(Generator& generator, uint64_t* out, int64_t count) {
  uint32_t words[2 * kDraws];
  generator.engine.fill(words, 2 * count);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1];
}

/// Draws `count` numbers, uniform in [0, 1).
inline void draw_uniform(Generator& generator, float* out, int64_t count) {
  uint32_t words[kDraws];
  for (int64_t start = 0; start < count; start += kDraws) {
    const int64_t now = std::min(kDraws, count - start);
    generator.engine.fill(words, now);
    for (int64_t i = 0; i < now; ++i)
      out[start + i] = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffu)) * 0x1p-24f;
  }
}

inline void draw_uniform(Generator& generator, double* out, int64_t count) {
  uint64_t words[kDraws];
  for (int64_t start = 0; start < count; start += kDraws) {
    const int64_t now = std::min(kDraws, count - start);
    draw_words(generator, words, now);
    for (int64_t i = 0; i < now; ++i)
      out[start + i] = static_cast<double>(static_cast<int64_t>(words[i] & kMantissa)) * 0x1p-53;
  }
}

/// Fills `self` in the order of memory; draw(T* out, count) writes each block of elements.
template <typename T, typename Draw>
void fill_in_order(const Tensor& self, const char* name, const Draw& draw) {
  if (self.numel() == 0) return;

  const TensorIterator iter = TensorIterator::over(name, {&self});
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    T block[kDraws];
    for (int64_t start = 0; start < n; start += kDraws) {
      const int64_t count = std::min(kDraws, n - start);
      char* target = data[0] + start * strides[0];
      // Strided elements are drawn into `block` first.
      const bool contiguous = strides[0] == static_cast<int64_t>(sizeof(T));
      (*static_cast<const Draw*>(context))(contiguous ? reinterpret_cast<T*>(target) : block,
                                           count);
      if (!contiguous) scatter(target, strides[0], block, sizeof(T), count);
    }
  };

  iter.serial_for_each(loop, &draw, 0, iter.numel());
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
