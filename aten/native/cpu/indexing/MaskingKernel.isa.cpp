// Writing where a mask is True.
#include "aten/native/declarations/cpu/indexing/MaskingKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/shared/NumberBits.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void masked_fill_kernel(const Tensor& self, const Tensor& mask, const Scalar& value,
                        const Tensor& out0) {
  if (out0.numel() == 0) return;
  const TensorIterator iter = TensorIterator::over("masked_fill", {&out0, &self, &mask});
  with_bits_of(value, self.scalar_type(), [&](auto fill) {
    using T = decltype(fill);
    cpu_kernel(iter, [fill](T element, bool masked) -> T { return masked ? fill : element; });
  });
}

void masked_fill_in_place_kernel(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_no_internal_overlap("masked_fill_", self);
  check_no_partial_overlap("masked_fill_", self, mask);
  masked_fill_kernel(self, mask, value, self);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
