// Copies between tensors of the same or different dtypes, and fills with one value.
#include <cstring>

#include "aten/iteration/Blocks.h"
#include "aten/iteration/Loops.h"
#include "aten/native/declarations/cpu/creation/CopyKernel.isa.h"
#include "aten/native/functors/Copy.h"
#include "aten/native/shared/CopyChecks.h"
#include "aten/native/shared/NumberBits.h"
#include "aten/parallel/Parallel.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

void copy_values(const Tensor& self, const Tensor& src) {
  // Small contiguous tensors need no iterator, and may overlap.
  const bool same = self.scalar_type() == src.scalar_type();
  if (same && src.is_cpu() && self.is_contiguous() && src.is_contiguous() &&
      self.numel() == src.numel() && self.numel() <= TensorIterator::kGrain) {
    if (self.numel() > 0) std::memmove(self.data(), src.data(), self.numel() * self.itemsize());
    return;
  }

  if (needs_clone_to_copy(self, src)) return copy_values(self, src.clone());
  TORCH_CHECK(src.is_cpu(), "copy_: no copy from ", src.device(), " to ", self.device(),
              " in this build");

  const ScalarType stop = stopover(self.scalar_type(), src.scalar_type());
  if (stop != self.scalar_type()) {
    const Tensor wide = empty_tensor(src.sizes(), stop, kCPU);
    wide.copy_(src);
    self.copy_(wide);
    return;
  }

  const TensorIterator iter = TensorIterator::over("copy_", {&self, &src});
  if (same) return copy_elements(iter);
  with_conversion(self.scalar_type(), src.scalar_type(),
                  [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace

void copy_kernel(const Tensor& self, const Tensor& src,
                 bool /*non_blocking: the CPU has no queue*/) {
  if (!self.is_same(src)) copy_values(self, src);
}

void fill_kernel(const Tensor& self, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());
  const Tensor target = has_internal_overlap(self) ? without_repetitions(self) : self;

  const TensorIterator iter = TensorIterator::over("fill_", {&target});
  with_bits_of(value, self.scalar_type(),
               [&](auto fill) { cpu_kernel(iter, [fill]() -> decltype(fill) { return fill; }); });
}

void zero_kernel(const Tensor& self) {
  if (!self.is_contiguous()) return fill_kernel(self, Scalar(0));

  const int64_t bytes = self.numel() * static_cast<int64_t>(self.itemsize());
  char* const data = static_cast<char*>(self.data());
  parallel_for(0, bytes, 4 * TensorIterator::kGrain, [data](int64_t begin, int64_t end) {
    std::memset(data + begin, 0, static_cast<size_t>(end - begin));
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
