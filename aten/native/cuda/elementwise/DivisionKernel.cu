// The kernels of div, floor_divide, remainder and fmod.
#include "aten/native/cuda/elementwise/DivisionWithRemainder.cuh"

namespace at::native::cuda {

void div_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_quotient(plan.common_dtype, plan.unrounded_number(2),
                [&](auto functor) { elementwise(plan, functor); });
}

void floor_divide_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  divide<FloorQuotient>(plan, plan.unrounded_number(2));
}

void div_mode_kernel(TensorIteratorBase& iter, std::string_view rounding_mode) {
  if (rounding_mode == "floor") return floor_divide_kernel(iter);
  check_truncates(rounding_mode);

  const LaunchPlan plan = launch_plan(iter);
  if (is_integral(plan.common_dtype, false)) return divide_integers<TruncatedQuotient>(plan);
  with_truncated_quotient(plan.common_dtype, plan.op_name, plan.unrounded_number(2),
                          [&](auto functor) { elementwise(plan, functor); });
}

void remainder_kernel(TensorIteratorBase& iter) { take_remainders(launch_plan(iter)); }

void fmod_kernel(TensorIteratorBase& iter) { take_fmod(launch_plan(iter)); }

}  // namespace at::native::cuda
