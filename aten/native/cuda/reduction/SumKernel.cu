// The kernels of sum, mean and the exclusive or over dimensions.
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/functors/Sum.h"

namespace at::native::cuda {

void sum_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_sum_ops(plan.common_dtype, plan.op_name, [&](auto ops) { reduce(iter, ops); });
}

void xor_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_xor_ops(plan.common_dtype, [&](auto ops) { reduce(iter, ops); });
}

void mean_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_mean_ops(plan.common_dtype, plan.op_name, plan.numel, result_plan(iter).numel,
                [&](auto ops) { reduce(iter, ops); });
}

}  // namespace at::native::cuda
