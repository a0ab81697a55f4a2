// The kernel of random_: a random word modulo the size of the range. See Note [Random numbers] in
// RandomDraws.h.
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/RandomIntegersKernel.isa.h"
#include "aten/native/random/Ranges.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The remainders of words divided by `range`, at most 2^31. The quotient is rounded to the nearest
/// integer, and so the remainder may be negative at first. Everything else is exact.
void divide_words(const uint32_t* words, int64_t count, uint32_t range, int32_t* rests) {
  const auto divisor = static_cast<double>(range);
  const double inverse = 1.0 / divisor;
  for (int64_t i = 0; i < count; ++i) {
    // Vectors convert signed integers only.
    const double word = static_cast<double>(static_cast<int32_t>(words[i] ^ 0x80000000u)) + 0x1p31;
    const double quotient = (word * inverse + vec::kRound) - vec::kRound;
    const double rest = word - quotient * divisor;
    rests[i] = static_cast<int32_t>(rest < 0 ? rest + divisor : rest);
  }
}

/// Draws from base + [0, range), where a range of 0 means 2^64. `wide` takes 64-bit words, so that
/// the modulus of a large range does not favour small numbers.
template <typename T>
void draw_integers(const Tensor& self, int64_t base, uint64_t range, bool wide, Generator* chosen) {
  Generator& generator = generator_or_default(chosen);
  const std::lock_guard<std::mutex> lock(generator.mutex);

  TORCH_INTERNAL_ASSERT(wide || range <= uint64_t{1} << 31, "random_: range ", range);
  const auto number = [base](uint64_t offset) {
    return convert<T>(static_cast<int64_t>(static_cast<uint64_t>(base) + offset));
  };

  fill_in_order<T>(self, "random_", [&](T* out, int64_t count) {
    if (wide) {
      uint64_t words[kDraws];
      draw_words(generator, words, count);
      for (int64_t i = 0; i < count; ++i) out[i] = number(range == 0 ? words[i] : words[i] % range);
      return;
    }

    uint32_t words[kDraws] = {};
    int32_t rests[kDraws];
    generator.engine.fill(words, count);
    divide_words(words, count, static_cast<uint32_t>(range), rests);
    for (int64_t i = 0; i < count; ++i) out[i] = number(static_cast<uint64_t>(rests[i]));
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
