// Copying with conversion, and filling.
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/declarations/cpu/CopyKernel.h"
#include "aten/ops/narrow.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

void copy_same_dtype(const TensorIteratorBase& iter) {
  switch (element_size(iter.dtype())) {
    case 1: return cpu_kernel(iter, [](uint8_t value) -> uint8_t { return value; });
    case 2: return cpu_kernel(iter, [](uint16_t value) -> uint16_t { return value; });
    case 4: return cpu_kernel(iter, [](uint32_t value) -> uint32_t { return value; });
    case 8: return cpu_kernel(iter, [](uint64_t value) -> uint64_t { return value; });
    default: return cpu_kernel(iter, [](c10::complex<double> value) -> c10::complex<double> { return value; });
  }
}

/// Each memory location of an expanded tensor once: a constant may be written there, but not by several threads.
Tensor without_repetitions(const Tensor& self) {
  Tensor target = self;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) target = at::narrow(target, d, 0, 1);
  }
  return target;
}

template <typename To>
void copy_converted(const TensorIteratorBase& iter) {
  AT_DISPATCH_ALL_AND_BOOL(iter.dtype(1), "copy_", [&] { cpu_kernel(iter, [](scalar_t value) -> To { return convert<To>(value); }); });
}

}  // namespace

void copy_kernel(const Tensor& self, const Tensor& src, bool /*non_blocking: the CPU has no queue*/) {
  if (self.is_same(src)) return;
  TORCH_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "Cannot copy out of meta tensor; no data!");
  TORCH_CHECK(src.is_cpu(), "copy_: no copy from ", src.device(), " to ", self.device(), " in this build");
  TORCH_CHECK(broadcast_sizes(self.sizes(), src.sizes()) == DimVector(self.sizes()), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", broadcast_sizes(self.sizes(), src.sizes()), " in copy_");
  check_no_internal_overlap("copy_", self);
  check_no_partial_overlap("copy_", self, src);
  const bool same = self.scalar_type() == src.scalar_type();
  if (same && self.is_contiguous() && src.is_contiguous() && self.numel() == src.numel() && self.numel() <= TensorIterator::kGrain) {
    if (self.numel() > 0) std::memmove(self.data(), src.data(), self.numel() * self.itemsize());
    return;
  }
  const TensorIterator iter = TensorIterator::over("copy_", {&self, &src});
  if (same) return copy_same_dtype(iter);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "copy_", [&] { copy_converted<scalar_t>(iter); });
}

void fill_kernel(const Tensor& self, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());
  const Tensor target = has_internal_overlap(self) ? without_repetitions(self) : self;
  const TensorIterator iter = TensorIterator::over("fill_", {&target});
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "fill_", [&] {
    const scalar_t fill = value.to<scalar_t>();
    cpu_kernel(iter, [fill]() -> scalar_t { return fill; });
  });
}

void zero_kernel(const Tensor& self) {
  if (self.is_contiguous() && self.numel() <= TensorIterator::kGrain) {
    if (self.numel() > 0) std::memset(self.data(), 0, self.numel() * self.itemsize());
    return;
  }
  fill_kernel(self, Scalar(0));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
