// The kernels of masked_fill and where. They only move elements, so each element size has one loop.
#include "aten/native/declarations/cpu/indexing/MaskingKernel.isa.h"
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/shared/NumberBits.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T>
void select_elements(const TensorIteratorBase& iter) {
  cpu_kernel(iter,
             [](uint8_t condition, T self, T other) -> T { return condition != 0 ? self : other; });
}

}  // namespace

void masked_fill_kernel(const Tensor& self, const Tensor& mask, const Scalar& value,
                        const Tensor& out0) {
  if (out0.numel() == 0) return;

  const TensorIterator iter = TensorIterator::over("masked_fill", {&out0, &self, &mask});
  with_bits_of(value, self.scalar_type(), [&](auto fill) {
    using T = decltype(fill);
    // The mask as a number: loops around a branch on a bool are not vectorised.
    cpu_kernel(iter,
               [fill](T element, uint8_t masked) -> T { return masked != 0 ? fill : element; });
  });
}

void masked_fill_in_place_kernel(const Tensor& self, const Tensor& mask, const Scalar& value) {
  masked_fill_kernel(self, readable_beside(self, mask), value, self);
}

void where_kernel(const Tensor& condition, const Tensor& self, const Tensor& other,
                  const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const Tensor first = self.to(type);
  const Tensor second = other.to(type);
  const TensorIterator iter = TensorIterator::over("where", {&out0, &condition, &first, &second});

  switch (element_size(type)) {
    case 1: return select_elements<uint8_t>(iter);
    case 2: return select_elements<uint16_t>(iter);
    case 4: return select_elements<uint32_t>(iter);
    case 8: return select_elements<uint64_t>(iter);
    default: return select_elements<c10::complex<double>>(iter);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
