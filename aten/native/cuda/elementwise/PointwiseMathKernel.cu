// The kernel of nan_to_num, which replaces NaN and infinities by numbers.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Complex.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/PointwiseMath.h"

namespace at::native::cuda {

void nan_to_num_kernel(TensorIteratorBase& iter, std::optional<double> nan,
                       std::optional<double> posinf, std::optional<double> neginf) {
  const LaunchPlan plan = launch_plan(iter);
  if (is_integral(plan.common_dtype, true)) {  // every value is a finite number
    return dispatch_modular(plan.common_dtype,
                            [&]<typename T>() { elementwise(plan, Identity<T>()); });
  }
  with_nan_to_num(plan.common_dtype, nan, posinf, neginf,
                  [&](auto functor) { elementwise(plan, functor); });
}

}  // namespace at::native::cuda
