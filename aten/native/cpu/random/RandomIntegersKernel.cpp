// Random permutations. Every number depends on those drawn before it, so this is not a vector loop.
#include "aten/native/declarations/cpu/random/RandomIntegersKernel.h"

#include <mutex>
#include <numeric>
#include <utility>

#include "c10/core/Generator.h"

namespace at::native {

/// Each place is swapped with a random place from itself on.
void shuffled_kernel(const Tensor& self, Generator* chosen) {
  TORCH_CHECK(self.is_contiguous(), "_shuffled_: expected a contiguous vector, got strides ",
              self.strides());
  Generator& generator = chosen != nullptr ? *chosen : default_cpu_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex);

  const int64_t n = self.numel();
  int64_t* out = self.data_ptr<int64_t>();
  std::iota(out, out + n, int64_t{0});

  const bool wide = n > int64_t{0xffffffff};
  for (int64_t i = 0; i < n - 1; ++i) {
    const uint64_t word = wide ? generator.random64() : generator.random();
    std::swap(out[i], out[i + static_cast<int64_t>(word % static_cast<uint64_t>(n - i))]);
  }
}

}  // namespace at::native
