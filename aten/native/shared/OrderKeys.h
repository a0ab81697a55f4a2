#pragma once
// Keys by which elements are ordered, in comparisons and sorts. nan is larger than every number.
#include <type_traits>

#include "c10/core/ScalarType.h"

namespace at::native {

/// The type in which elements of T are compared. Three types serve all dtypes, so that sorting is
/// compiled three times instead of ten.
template <typename T>
using key_type = std::conditional_t<is_integral(scalar_type_of<T>, true), int64_t, opmath_type<T>>;

template <typename Key>
struct OrderEntry {
  Key key;
  int64_t index;
};

template <typename T>
bool key_less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return (a < b) || (b != b && a == a);
  return a < b;
}

/// The order of a stable sort: entries of equal keys keep the order of their indices.
template <typename Key>
bool entry_less(const OrderEntry<Key>& a, const OrderEntry<Key>& b) {
  if (a.key < b.key) return true;
  if (b.key < a.key) return false;
  if (a.key == b.key) return a.index < b.index;
  return key_less(a.key, b.key) || (!key_less(b.key, a.key) && a.index < b.index);  // nan
}

}  // namespace at::native
