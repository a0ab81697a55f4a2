// The kernel of conj, which copies real numbers and conjugates complex ones.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Complex.h"

namespace at::native::cuda {

void conj_kernel(TensorIteratorBase& iter) {
  const LaunchPlan plan = launch_plan(iter);
  with_conj(plan.common_dtype, [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
