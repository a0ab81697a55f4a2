#pragma once
// What copies and fills check before their loops, on every device.
#include "aten/core/Tensor.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/ops/narrow.h"

namespace at::native {

/// Refuses a source without elements. True if `src` must be copied first, because elements of
/// `self` lie between its own.
inline bool needs_clone_to_copy(const Tensor& self, const Tensor& src) {
  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  return self.device() == src.device() && memory_overlap(self, src) == Overlap::Strided;
}

/// Narrows expanded dimensions to one element, so that each memory location appears once: several
/// threads must not write to the same one.
inline Tensor without_repetitions(const Tensor& self) {
  Tensor target = self;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) target = at::narrow(target, d, 0, 1);
  }
  return target;
}

}  // namespace at::native
