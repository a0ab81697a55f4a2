// Random permutations. Every number depends on those drawn before it, so this is not a vector loop.
#include "aten/native/declarations/cpu/random/RandomIntegersKernel.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "c10/core/Generator.h"

namespace at::native {

namespace {

/// Swaps the first `count` places of n each with a random place from itself on. Words of 32 bits
/// are drawn in blocks, and divided faster than wider ones.
void shuffle_first(int64_t* out, int64_t n, int64_t count, Generator& generator) {
  constexpr int64_t kDraws = 256;
  uint32_t words[kDraws];
  for (int64_t start = 0; start < count; start += kDraws) {
    const int64_t now = std::min(kDraws, count - start);
    generator.engine.fill(words, now);
    for (int64_t i = 0; i < now; ++i) {
      int64_t* place = out + start + i;
      std::swap(*place, place[words[i] % static_cast<uint32_t>(n - start - i)]);
    }
  }
}

}  // namespace

/// Each place is swapped with a random place from itself on.
void shuffled_kernel(const Tensor& self, Generator* chosen) {
  TORCH_CHECK(self.is_contiguous(), "_shuffled_: expected a contiguous vector, got strides ",
              self.strides());
  Generator& generator = chosen != nullptr ? *chosen : default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex);

  const int64_t n = self.numel();
  int64_t* out = self.data_ptr<int64_t>();
  std::iota(out, out + n, int64_t{0});

  if (n <= int64_t{0xffffffff}) return shuffle_first(out, n, n - 1, generator);
  for (int64_t i = 0; i < n - 1; ++i) {
    const uint64_t word = generator.random64();
    std::swap(out[i], out[i + static_cast<int64_t>(word % static_cast<uint64_t>(n - i))]);
  }
}

}  // namespace at::native
