// The kernel of dropout: scales what is kept.
#include "aten/native/declarations/cpu/nn/DropoutKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Dropout.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void scale_kept_kernel(const Tensor& self, const Tensor& kept, double scale, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const TensorIterator iter = TensorIterator::over("_scale_kept", {&out0, &self, &kept});
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "_scale_kept", [&] {
    const ScaleKept<scalar_t> functor(scale);
    // The mask as a number: loops around a branch on a bool are not vectorised.
    cpu_kernel(iter,
               [functor](scalar_t x, uint8_t is_kept) -> scalar_t { return functor(x, is_kept); });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
