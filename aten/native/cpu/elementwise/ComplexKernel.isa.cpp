// The kernel of conj, which copies real numbers and conjugates complex ones.
#include "aten/native/declarations/cpu/elementwise/ComplexKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Complex.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void conj_kernel(TensorIteratorBase& iter) {
  with_conj(iter.common_dtype(), [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
