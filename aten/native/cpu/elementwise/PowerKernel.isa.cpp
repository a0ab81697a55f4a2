// The kernel of pow.
#include "aten/native/declarations/cpu/elementwise/PowerKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Power.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void pow_kernel(TensorIteratorBase& iter) {
  const Tensor& exponent = iter.input(1);
  with_power(iter.common_dtype(), exponent.numel() == 1 ? exponent.data() : nullptr,
             exponent.is_wrapped_number(), [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
