// Where the element of a given number is in memory.
#pragma once
#include <cstdint>

#include "aten/iteration/LaunchPlan.h"
#include "aten/native/cuda/Division.h"

namespace at::native::cuda {

/// Sizes, and byte strides of some operands, of some dimensions, in the order in which their
/// elements are counted.
template <int kOperands>
struct IndexedDims {
  int dims = 0;
  bool is_wide = false;  // more than 31 bits count the elements: divisions are 64-bit
  int64_t count = 1;
  int64_t sizes[LaunchPlan::kMaxDims] = {};
  Divisor divisors[LaunchPlan::kMaxDims] = {};
  int64_t strides[kOperands][LaunchPlan::kMaxDims] = {};

  /// To be called when all sizes are known. `limit` is 2^31 except in tests.
  void finish(int64_t limit) {
    is_wide = count > limit;
    if (count == 0) return;  // no element has an index
    for (int d = 0; d < dims && !is_wide; ++d)
      divisors[d] = Divisor(static_cast<uint32_t>(sizes[d]));
  }

  /// Byte offset of element `index` in operand k.
  C10_HOST_DEVICE int64_t offset(int k, int64_t index) const {
    int64_t offset = 0;
    for (int d = 0; d + 1 < dims; ++d) {
      const int64_t rest =
          is_wide ? index / sizes[d]
                  : static_cast<int64_t>(divisors[d].quotient(static_cast<uint32_t>(index)));
      offset += (index - rest * sizes[d]) * strides[k][d];
      index = rest;
    }
    return dims == 0 ? 0 : offset + index * strides[k][dims - 1];
  }
};

}  // namespace at::native::cuda
