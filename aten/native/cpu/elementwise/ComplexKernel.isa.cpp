// The kernel of conj, which copies real numbers and conjugates complex ones.
#include "aten/native/declarations/cpu/elementwise/ComplexKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void conj_kernel(TensorIteratorBase& iter) {
  if (!c10::is_complex(iter.common_dtype())) {
    AT_DISPATCH_REAL_AND_BOOL(iter.common_dtype(), "conj", [&] {
      cpu_kernel(iter, [](scalar_t value) -> scalar_t { return value; });
    });
    return;
  }

  AT_DISPATCH_COMPLEX(iter.common_dtype(), "conj", [&] {
    cpu_kernel(iter,
               [](scalar_t value) -> scalar_t { return scalar_t(value.real(), -value.imag()); });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
