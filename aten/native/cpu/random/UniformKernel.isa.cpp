// Uniform, Bernoulli and exponential random numbers. See Note [Random numbers] in RandomDraws.h.
#include <cmath>
#include <limits>
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/UniformKernel.isa.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Writes draw(T* out, count) to blocks of elements in order of memory.
template <typename T, typename Draw>
void fill_in_order(const Tensor& self, const char* name, const Draw& draw) {
  if (self.numel() == 0) return;
  check_no_internal_overlap(name, self);
  const TensorIterator iter = TensorIterator::over(name, {&self});
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    T block[kDraws];
    for (int64_t start = 0; start < n; start += kDraws) {
      const int64_t count = std::min(kDraws, n - start);
      char* target = data[0] + start * strides[0];
      const bool contiguous = strides[0] == static_cast<int64_t>(sizeof(T));
      (*static_cast<const Draw*>(context))(contiguous ? reinterpret_cast<T*>(target) : block,
                                           count);
      if (!contiguous) scatter(target, strides[0], block, sizeof(T), count);
    }
  };
  iter.serial_for_each(loop, &draw, 0, iter.numel());
}

template <typename T>
void check_uniform_range(double from, double to) {
  constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest()),
                   kHighest = static_cast<double>(std::numeric_limits<T>::max());
  const char* type = scalar_type_name(scalar_type_of<T>);
  TORCH_CHECK(from >= kLowest && from <= kHighest, "from is out of bounds for ", type);
  TORCH_CHECK(to >= kLowest && to <= kHighest, "to is out of bounds for ", type);
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  TORCH_CHECK(to - from <= kHighest, "uniform_ expects to-from <= std::numeric_limits<", type,
              ">::max(), but found to=", to, " and from=", from,
              " which result in to-from to exceed the limit");
}

}  // namespace

void uniform_kernel(const Tensor& self, double from, double to, Generator* generator) {
  if (self.is_complex()) return uniform_kernel(as_real(self), from, to, generator);
  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "uniform_", [&] {
    using opmath_t = opmath_type<scalar_t>;
    check_uniform_range<scalar_t>(from, to);
    const opmath_t start = static_cast<opmath_t>(from), end = static_cast<opmath_t>(to),
                   width = end - start;
    const scalar_t first = static_cast<scalar_t>(start), last = static_cast<scalar_t>(end);
    fill_in_order<scalar_t>(self, "uniform_", [&](scalar_t* out, int64_t count) {
      opmath_t draws[kDraws];
      draw_uniform(source, draws, count);
      for (int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<scalar_t>(vec::multiply_add(draws[i], width, start));
        // Rounding can reach the end of the range, which does not belong to it.
        out[i] = static_cast<opmath_t>(value) == static_cast<opmath_t>(last) ? first : value;
      }
    });
  });
}

void bernoulli_kernel(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);
  // A draw k / 2^53 is below p exactly when k is below p * 2^53, rounded up.
  const auto threshold = static_cast<int64_t>(std::ceil(p * 0x1p53));
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    fill_in_order<scalar_t>(self, "bernoulli_", [&](scalar_t* out, int64_t count) {
      uint64_t words[kDraws];
      draw_words(source, words, count);
      const scalar_t one = convert<scalar_t>(1.0f), zero = convert<scalar_t>(0.0f);
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
