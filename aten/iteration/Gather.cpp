// Copies strided elements to contiguous blocks, and back.
#include "aten/iteration/Gather.h"

#include "aten/iteration/BlockCopy.h"

namespace at {

namespace native {
namespace {

auto row_kernel() {
  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(copy_row);
  return kernel;
}

}  // namespace
}  // namespace native

void gather(void* target, const void* source, int64_t stride, size_t size, int64_t n) {
  native::row_kernel()(static_cast<char*>(target), static_cast<int64_t>(size),
                       static_cast<const char*>(source), stride, size, n);
}

void scatter(void* target, int64_t stride, const void* source, size_t size, int64_t n) {
  native::row_kernel()(static_cast<char*>(target), stride, static_cast<const char*>(source),
                       static_cast<int64_t>(size), size, n);
}

}  // namespace at
