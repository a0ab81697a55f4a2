// The kernel of nextafter.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/BinaryMath.h"

namespace at::native::cuda {

void nextafter_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_nextafter(plan.common_dtype, [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
