// The kernels of bernoulli_ and exponential_. See Note [Random numbers] in RandomDraws.h.
#include <cmath>
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/DistributionsKernel.isa.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void bernoulli_kernel(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);

  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);

  // A draw k / 2^53 is less than p exactly if the integer k is less than p * 2^53 rounded up.
  const auto threshold = static_cast<int64_t>(std::ceil(p * 0x1p53));

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    fill_in_order<scalar_t>(self, "bernoulli_", [&](scalar_t* out, int64_t count) {
      uint64_t words[kDraws];
      draw_words(source, words, count);

      const scalar_t one = convert<scalar_t>(1.0f);
      const scalar_t zero = convert<scalar_t>(0.0f);
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<int64_t>(words[i] & kMantissa) < threshold ? one : zero;
    });
  });
}

void exponential_kernel(const Tensor& self, double lambd, Generator* generator) {
  TORCH_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  TORCH_CHECK(self.is_floating_point(),
              "Exponential distribution is a continuous probability distribution. "
              "dtype must be a floating point but you specified ",
              self.scalar_type());

  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);

  // Inverts the distribution function: log(1 - uniform) / -lambd.
  const double scale = -1.0 / lambd;
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "exponential_", [&] {
    fill_in_order<scalar_t>(self, "exponential_", [&](scalar_t* out, int64_t count) {
      double draws[kDraws];
      draw_uniform(source, draws, count);
      for (int64_t i = 0; i < count; ++i) out[i] = convert<scalar_t>(scale * vec::log1p(-draws[i]));
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
