#pragma once
// Sort keys: elements mapped to unsigned integers of the same order, so that one sort serves all
// dtypes and can go through long lanes digit by digit.
#include <bit>

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
    constexpr int kSignBit = 8 * sizeof(Bits) - 1;
    constexpr Bits kSign = Bits{1} << kSignBit;
    constexpr Bits kInfinity =
        sizeof(Bits) == 4 ? Bits{0xff} << 23 : Bits{0x7ff} << (kSignBit - 11);

    // Selections of integers: signs are as good as random, and a branch would be mispredicted for
    // every other element.
    const Bits given = std::bit_cast<Bits>(static_cast<Real>(element));
    const Bits magnitude = given & ~kSign;
    const Bits bits = magnitude == 0 ? Bits{0} : given;

    // Inverting negative numbers and setting the sign bit of the others puts the bits in order.
    const Bits key = bits ^ (static_cast<Bits>(Bits{0} - (bits >> kSignBit)) | kSign);
    return magnitude > kInfinity ? static_cast<Bits>(-1) : key;
  }
}

/// Whether only one element has the key. Zeros of both signs share one, and all nan.
template <typename T>
C10_HOST_DEVICE bool names_element(uint64_t key) {
  if constexpr (is_integral(scalar_type_of<T>, true)) {
    return true;
  } else {
    constexpr int kBits = 8 * key_bytes<T>;
    return key != uint64_t{1} << (kBits - 1) && key != ~uint64_t{0} >> (64 - kBits);
  }
}

/// The element that a key names.
template <typename T>
C10_HOST_DEVICE T element_of_key(uint64_t key) {
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (is_integral(scalar_type_of<T>, true)) {
    constexpr auto kSign = uint64_t{std::is_signed_v<T>} << (8 * sizeof(T) - 1);
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(key ^ kSign));
  } else {
    using Real = opmath_type<T>;
    using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    const auto bits = static_cast<Bits>(key);
    return static_cast<T>(std::bit_cast<Real>((bits & kSign) != 0 ? bits ^ kSign : ~bits));
  }
}

/// The key of nan, or 0 for the dtypes without one.
template <typename T>
constexpr uint64_t nan_key =
    is_integral(scalar_type_of<T>, true) ? 0 : ~uint64_t{0} >> (64 - 8 * key_bytes<T>);

/// The order of a stable sort: entries of equal keys keep the order of their indices.
inline bool is_before(const SortEntry& a, const SortEntry& b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/// Writes the indices 0 to n - 1 to `order`, sorted by their keys of `key_bytes` bytes. Indices of
/// equal keys keep their order. The keys are overwritten.
TORCH_PY_API void sort_indices(uint64_t* keys, int64_t n, int key_bytes, int64_t* order);

/// The index of the entry at `rank` in the order of is_before. The entries are given in the order
/// of their indices and have keys of `key_bytes` bytes; they are overwritten.
TORCH_PY_API int64_t index_at_rank(SortEntry* entries, int64_t n, int64_t rank, int key_bytes);

}  // namespace at::native
