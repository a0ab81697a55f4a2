// The kernel of random_: a random word modulo the size of the range. See Note [Random numbers] in
// RandomDraws.h.
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/RandomIntegersKernel.isa.h"
#include "aten/native/random/Ranges.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Draws from base + [0, range), where a range of 0 means 2^64. `wide` takes 64-bit words, so that
/// the modulus of a large range does not favour small numbers.
template <typename T>
void draw_integers(const Tensor& self, int64_t base, uint64_t range, bool wide, Generator* chosen) {
  if (self.numel() == 0) return;

  check_no_internal_overlap("random_", self);
  Generator& generator = generator_or_default(chosen);
  const std::lock_guard<std::mutex> lock(generator.mutex);

  const TensorIterator iter = TensorIterator::over("random_", {&self});
  cpu_serial_kernel(iter, [&generator, base, range, wide]() -> T {
    uint64_t offset;
    if (wide) {
      offset = generator.random64();
      if (range != 0) offset %= range;
    } else {
      offset = generator.random() % static_cast<uint32_t>(range);
    }
    return convert<T>(static_cast<int64_t>(static_cast<uint64_t>(base) + offset));
  });
}

template <typename T>
void random_between(const Tensor& self, int64_t from, std::optional<int64_t> to,
                    Generator* generator) {
  const IntegerRange range = integer_range<T>(from, to);
  draw_integers<T>(self, range.base, range.size, range.wide, generator);
}

}  // namespace

void random_from_kernel(const Tensor& self, int64_t from, std::optional<int64_t> to,
                        Generator* generator) {
  const ScalarType type = self.scalar_type();

  // The wide unsigned dtypes take the same draws as int64.
  if (c10::is_wide_unsigned(type)) {
    const int64_t largest = check_wide_unsigned(type, from, to);
    const Tensor drawn = empty_tensor(self.sizes(), kLong, kCPU);
    random_between<int64_t>(drawn, from, to.has_value() || type == kUInt64 ? to : largest + 1,
                            generator);
    self.copy_(drawn);
    return;
  }

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "random_",
                            [&] { random_between<scalar_t>(self, from, to, generator); });
}

void random_to_kernel(const Tensor& self, int64_t to, Generator* generator) {
  random_from_kernel(self, 0, to, generator);
}

void random_kernel(const Tensor& self, Generator* generator) {
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "random_", [&] {
    const bool wide = self.scalar_type() == kLong || self.scalar_type() == kDouble;
    draw_integers<scalar_t>(self, 0, static_cast<uint64_t>(largest_integer<scalar_t>()) + 1, wide,
                            generator);
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
