// The kernels of add, sub, rsub and mul.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Arithmetic.h"

namespace at::native::cuda {

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  const LaunchPlan plan = launch_plan(iter);
  check_alpha(plan.common_dtype, alpha);
  with_sum<false>(plan.common_dtype, alpha, [&](auto functor) { elementwise(plan, functor); });
}

void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  const LaunchPlan plan = launch_plan(iter);
  check_alpha(plan.common_dtype, alpha);
  with_sum<false>(plan.common_dtype, -alpha, [&](auto functor) { elementwise(plan, functor); });
}

void rsub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  const LaunchPlan plan = launch_plan(iter);
  check_alpha(plan.common_dtype, alpha);
  with_sum<true>(plan.common_dtype, -alpha, [&](auto functor) { elementwise(plan, functor); });
}

void mul_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_product(plan.common_dtype, plan.unrounded_number(2),
               [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
