// The kernel of random_: a random word modulo the size of the range. See Note [Random numbers] in
// RandomDraws.h.
#include <limits>
#include <mutex>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/RandomIntegersKernel.isa.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The largest integer that random_ draws for a dtype: all integers up to it are exact.
template <typename T>
constexpr int64_t largest_integer() {
  if constexpr (is_integral(scalar_type_of<T>, true))
    return static_cast<int64_t>(std::numeric_limits<T>::max());
  return int64_t{1} << std::numeric_limits<T>::digits;
}

template <typename T>
void check_bounds(int64_t from, int64_t last) {
  constexpr bool kIntegral = is_integral(scalar_type_of<T>, true);
  constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr double kHighest = static_cast<double>(std::numeric_limits<T>::max());
  auto fits = [](int64_t value) {
    if constexpr (kIntegral)
      return value >= static_cast<int64_t>(std::numeric_limits<T>::lowest()) &&
             value <= largest_integer<T>();
    return static_cast<double>(value) >= kLowest && static_cast<double>(value) <= kHighest;
  };

  const char* type = scalar_type_name(scalar_type_of<T>);
  TORCH_CHECK(fits(from), "from is out of bounds for ", type);
  TORCH_CHECK(fits(last), "to - 1 is out of bounds for ", type);
}

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
  TORCH_CHECK(!to.has_value() || from < *to,
              "random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to.value_or(0));
  const int64_t last = to.has_value() ? *to - 1 : largest_integer<T>();
  check_bounds<T>(from, last);
  TORCH_CHECK(from <= last,
              "random_ expects 'from' internal range to be non-empty, but got from=", from, " > ",
              last);

  const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  constexpr uint64_t kWide = uint64_t{1} << 28;
  draw_integers<T>(self, range == 0 ? 0 : from, range, range == 0 || range >= kWide, generator);
}

}  // namespace

void random_from_kernel(const Tensor& self, int64_t from, std::optional<int64_t> to,
                        Generator* generator) {
  const ScalarType type = self.scalar_type();

  // The wide unsigned dtypes take the same draws as int64.
  if (c10::is_wide_unsigned(type)) {
    const int64_t largest = type == kUInt64 ? std::numeric_limits<int64_t>::max()
                                            : (int64_t{1} << 8 * element_size(type)) - 1;
    TORCH_CHECK(from >= 0 && from <= largest, "from is out of bounds for ", cpp_type_name(type));
    TORCH_CHECK(!to.has_value() || *to - 1 <= largest, "to - 1 is out of bounds for ",
                cpp_type_name(type));

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
