// The kernels of the bitwise operations and shifts of integers.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Bitwise.h"

namespace at::native::cuda {

void bitwise_and_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_bitwise<BitAnd>(plan.common_dtype, plan.op_name,
                       [&](auto functor) { elementwise(plan, functor); });
}

void bitwise_or_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_bitwise<BitOr>(plan.common_dtype, plan.op_name,
                      [&](auto functor) { elementwise(plan, functor); });
}

void bitwise_xor_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_bitwise<BitXor>(plan.common_dtype, plan.op_name,
                       [&](auto functor) { elementwise(plan, functor); });
}

void lshift_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_shift<ShiftLeft>(plan.common_dtype, "lshift",
                        [&](auto functor) { elementwise(plan, functor); });
}

void rshift_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_shift<ShiftRight>(plan.common_dtype, "rshift",
                         [&](auto functor) { elementwise(plan, functor); });
}

void bitwise_not_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_bitwise_not(plan.common_dtype, [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
