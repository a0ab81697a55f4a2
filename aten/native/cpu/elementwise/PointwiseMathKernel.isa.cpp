// The kernel of nan_to_num, which replaces NaN and infinities by numbers.
#include "aten/native/declarations/cpu/elementwise/PointwiseMathKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/PointwiseMath.h"
#include "aten/ops/copy.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void nan_to_num_kernel(TensorIteratorBase& iter, std::optional<double> nan,
                       std::optional<double> posinf, std::optional<double> neginf) {
  if (is_integral(iter.common_dtype(), true)) {  // every value is a finite number
    if (!iter.output().is_same(iter.input(0))) at::copy_(iter.output(), iter.input(0));
    return;
  }
  with_nan_to_num(iter.common_dtype(), nan, posinf, neginf,
                  [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
