// The kernel of clamp.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Clamp.h"

namespace at::native::cuda {

void clamp_kernel(TensorIteratorBase& iter, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max) {
  const LaunchPlan plan = launch_plan(iter);
  with_clamp(plan.common_dtype, min, max, [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
