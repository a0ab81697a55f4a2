// Selection between two tensors; it moves elements, so one loop per element size.
#include "aten/native/declarations/cpu/indexing/WhereKernel.isa.h"
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T>
void select_elements(const TensorIteratorBase& iter) {
  cpu_kernel(iter,
             [](uint8_t condition, T self, T other) -> T { return condition != 0 ? self : other; });
}

}  // namespace

void where_kernel(const Tensor& condition, const Tensor& self, const Tensor& other,
                  const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const Tensor first = self.to(type), second = other.to(type);
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
