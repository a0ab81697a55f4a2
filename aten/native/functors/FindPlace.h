#pragma once
// Binary search for host and device.
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {
namespace {

/// The first of n places whose element is at least `value`, or greater than it if `right`. Elements
/// that do not compare with `value`, because one of the two is NaN, count as less.
template <class T, class Element>
C10_HOST_DEVICE int64_t find_place(int64_t n, T value, bool right, const Element& element) {
  int64_t begin = 0;
  int64_t count = n;

  while (count > 0) {
    const int64_t half = count / 2;
    const T middle = element(begin + half);
    const bool is_found = right ? middle > value : middle >= value;
    if (is_found) {
      count = half;
    } else {
      begin += half + 1;
      count -= half + 1;
    }
  }

  return begin;
}

}  // namespace
}  // namespace at::native
