// The kernel of uniform_. See Note [Random numbers] in RandomDraws.h.
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/UniformKernel.isa.h"
#include "aten/native/random/Ranges.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void uniform_kernel(const Tensor& self, double from, double to, Generator* generator) {
  if (self.is_complex()) return uniform_kernel(as_real(self), from, to, generator);

  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "uniform_", [&] {
    using opmath_t = opmath_type<scalar_t>;
    check_uniform_range<scalar_t>(from, to);

    const opmath_t start = static_cast<opmath_t>(from);
    const opmath_t end = static_cast<opmath_t>(to);
    const opmath_t width = end - start;
    const scalar_t first = static_cast<scalar_t>(start);
    const scalar_t last = static_cast<scalar_t>(end);

    fill_in_order<scalar_t>(self, "uniform_", [&](scalar_t* out, int64_t count) {
      opmath_t draws[kDraws];
      draw_uniform(source, draws, count);
      for (int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<scalar_t>(vec::multiply_add(draws[i], width, start));
        // Rounding can reach the end of the range, which is excluded.
        out[i] = static_cast<opmath_t>(value) == static_cast<opmath_t>(last) ? first : value;
      }
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
