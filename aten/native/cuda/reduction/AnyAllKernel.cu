// The kernels of any and all over dimensions.
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/functors/AnyAll.h"

namespace at::native::cuda {

void any_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_any_or_all_ops(plan.common_dtype, plan.op_name, false, [&](auto ops) { reduce(iter, ops); });
}

void all_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_any_or_all_ops(plan.common_dtype, plan.op_name, true, [&](auto ops) { reduce(iter, ops); });
}

}  // namespace at::native::cuda
