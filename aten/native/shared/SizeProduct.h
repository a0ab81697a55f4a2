#pragma once
// The number of elements of sizes.
#include <cstdint>

#include "c10/util/ArrayRef.h"

namespace at::native {

inline int64_t product_of(c10::IntArrayRef sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

}  // namespace at::native
