// The kernel of uniform_. See Note [Random numbers on a device].
#include "aten/Dispatch.h"
#include "aten/native/cuda/Random.cuh"
#include "aten/native/random/Ranges.h"

namespace at::native::cuda {

namespace {

template <class T>
struct Uniform {
  using Number = opmath_type<T>;
  static constexpr int kCount = kNumbersPerCounter<Number>;
  Number start;
  Number width;
  T first;
  T last;

  SIMT_DEVICE void operator()(const PhiloxWords& words, T (&values)[kCount]) const {
    SIMT_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const T value = static_cast<T>(uniform_number(word_for<Number>(words, i)) * width + start);
      // Rounding can reach the end of the range, which is excluded.
      values[i] = static_cast<Number>(value) == static_cast<Number>(last) ? first : value;
    }
  }
};

}  // namespace

void uniform_kernel(const Tensor& self, double from, double to, Generator* generator) {
  if (self.is_complex()) return uniform_kernel(as_real(self), from, to, generator);

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "uniform_", [&] {
    using opmath_t = opmath_type<scalar_t>;
    check_uniform_range<scalar_t>(from, to);

    const auto start = static_cast<opmath_t>(from);
    const auto end = static_cast<opmath_t>(to);
    fill_random<scalar_t>(self, "uniform_", generator,
                          Uniform<scalar_t>{start, end - start, static_cast<scalar_t>(start),
                                            static_cast<scalar_t>(end)});
  });
}

}  // namespace at::native::cuda
