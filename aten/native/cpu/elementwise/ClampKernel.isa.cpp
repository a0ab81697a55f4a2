// The kernel of clamp.
#include "aten/native/declarations/cpu/elementwise/ClampKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Clamp.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void clamp_kernel(TensorIteratorBase& iter, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max) {
  with_clamp(iter.common_dtype(), min, max, [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
