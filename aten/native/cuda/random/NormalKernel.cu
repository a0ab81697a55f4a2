// The kernel of normal_. See Note [Random numbers on a device].
#include <numbers>

#include "aten/Dispatch.h"
#include "aten/native/cuda/Random.cuh"
#include "aten/native/random/Ranges.h"

namespace at::native::cuda {

namespace {

struct Unchanged {
  template <class Number>
  SIMT_DEVICE static Number of(Number value) {
    return value;
  }
};

}  // namespace

void normal_kernel(const Tensor& self, double mean, double std, Generator* generator) {
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);

  // The real and the imaginary part each have half the variance.
  if (self.is_complex())
    return normal_kernel(as_real(self), mean, std / std::numbers::sqrt2, generator);

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "normal_", [&] {
    using opmath_t = opmath_type<scalar_t>;
    fill_random<scalar_t>(self, "normal_", generator,
                          NormalNumbers<scalar_t, Unchanged>{static_cast<opmath_t>(mean),
                                                             static_cast<opmath_t>(std)});
  });
}

}  // namespace at::native::cuda
