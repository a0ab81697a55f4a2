#pragma once
// What the kernels of random numbers check, on every device, and the real view of complex tensors.
#include <limits>
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {
namespace {

template <typename T>
void check_uniform_range(double from, double to) {
  constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr double kHighest = static_cast<double>(std::numeric_limits<T>::max());
  const char* type = scalar_type_name(scalar_type_of<T>);

  TORCH_CHECK(from >= kLowest && from <= kHighest, "from is out of bounds for ", type);
  TORCH_CHECK(to >= kLowest && to <= kHighest, "to is out of bounds for ", type);
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  TORCH_CHECK(to - from <= kHighest, "uniform_ expects to-from <= std::numeric_limits<", type,
              ">::max(), but found to=", to, " and from=", from,
              " which result in to-from to exceed the limit");
}

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

/// The integers base + [0, size), where a size of 0 means 2^64. `wide` ones take 64-bit words, so
/// that the modulus of a large range does not favour small numbers.
struct IntegerRange {
  int64_t base;
  uint64_t size;
  bool wide;
};

/// The range of random_(from, to) for a dtype; without `to`, up to its largest integer.
template <typename T>
IntegerRange integer_range(int64_t from, std::optional<int64_t> to) {
  const int64_t last = to.has_value() ? *to - 1 : largest_integer<T>();
  check_bounds<T>(from, last);
  TORCH_CHECK(from <= last,
              "random_ expects 'from' internal range to be non-empty, but got from=", from, " > ",
              last);

  const uint64_t size = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  constexpr uint64_t kWide = uint64_t{1} << 28;
  return {size == 0 ? 0 : from, size, size == 0 || size >= kWide};
}

/// Checks a range for a wide unsigned dtype, and returns the largest number drawn for it.
inline int64_t check_wide_unsigned(ScalarType type, int64_t from, std::optional<int64_t> to) {
  const int64_t largest = type == kUInt64 ? std::numeric_limits<int64_t>::max()
                                          : (int64_t{1} << 8 * element_size(type)) - 1;
  TORCH_CHECK(from >= 0 && from <= largest, "from is out of bounds for ", cpp_type_name(type));
  TORCH_CHECK(!to.has_value() || *to - 1 <= largest, "to - 1 is out of bounds for ",
              cpp_type_name(type));
  return largest;
}

/// A complex tensor as a real one, whose last dimension of size 2 holds real and imaginary parts.
inline Tensor as_real(const Tensor& self) {
  auto impl = make_intrusive<TensorImpl>(self.storage(), to_real(self.scalar_type()), self.device(),
                                         self.key_set() - kAutogradKeys);

  DimVector sizes(self.sizes());
  DimVector strides;
  for (const int64_t stride : self.strides()) strides.push_back(2 * stride);
  sizes.push_back(2);
  strides.push_back(1);

  impl->set_sizes_and_strides(sizes, strides, 2 * self.storage_offset());
  return Tensor(std::move(impl));
}

}  // namespace
}  // namespace at::native
