// The kernel of dropout: scales what is kept.
#include "aten/Dispatch.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Dropout.h"

namespace at::native::cuda {

void scale_kept_kernel(const Tensor& self, const Tensor& kept, double scale, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const LaunchPlan plan = launch_plan(TensorIterator::over("_scale_kept", {&out0, &self, &kept}));
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "_scale_kept",
                                   [&] { elementwise(plan, ScaleKept<scalar_t>(scale)); });
}

}  // namespace at::native::cuda
