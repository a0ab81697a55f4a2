// The kernel of pow.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Power.h"

namespace at::native::cuda {

void pow_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  if (plan.numel == 0) return;

  // An exponent on the device is not read: that would wait for all work before.
  const LaunchOperand& exponent = plan.operand[2];
  with_power(plan.common_dtype, exponent.is_number ? exponent.number : nullptr,
             exponent.is_number && exponent.is_wrapped_number,
             [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
