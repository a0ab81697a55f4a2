#pragma once
// Sort keys: elements mapped to unsigned integers of the same order, so that one sort serves all
// dtypes and can go through long lanes digit by digit.
#include <bit>
#include <vector>

#include "c10/core/ScalarType.h"
#include "c10/util/Export.h"

namespace at::native {

struct SortEntry {
  uint64_t key;
  int64_t index;
};

/// The number of bytes in which the keys of T can differ.
template <typename T>
constexpr int key_bytes =
    static_cast<int>(is_integral(scalar_type_of<T>, true) ? sizeof(T) : sizeof(opmath_type<T>));

/// The key of an element. nan is larger than all numbers, and zeros of both signs are equal.
template <typename T>
C10_HOST_DEVICE uint64_t sort_key(T element) {
  if constexpr (std::is_same_v<T, bool>) {
    return element ? 1 : 0;
  } else if constexpr (is_integral(scalar_type_of<T>, true)) {
    constexpr auto kSign = uint64_t{std::is_signed_v<T>} << (8 * sizeof(T) - 1);
    return static_cast<std::make_unsigned_t<T>>(element) ^ kSign;
  } else {
    using Real = opmath_type<T>;
    using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;

    const auto value = static_cast<Real>(element);
    if (value != value) return static_cast<Bits>(-1);

    constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    // Inverting negative numbers and setting the sign bit of the others puts the bits in order.
    const Bits bits = value == Real(0) ? Bits{0} : std::bit_cast<Bits>(value);
    return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
  }
}

/// The order of a stable sort: entries of equal keys keep the order of their indices.
inline bool is_before(const SortEntry& a, const SortEntry& b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/// Sorts entries, given in the order of their indices, by their keys of `key_bytes` bytes. Entries
/// of equal keys keep their order.
TORCH_PY_API void sort_entries(std::vector<SortEntry>& entries, int key_bytes);

}  // namespace at::native
