// The inner product of two vectors, by BLAS.
#include "aten/native/declarations/cpu/linalg/VectorProductKernel.h"
#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/zero.h"

namespace at::native {

void dot_kernel(const Tensor& self, const Tensor& tensor, const Tensor& out0) {
  if (self.numel() == 0) {
    at::zero_(out0);
    return;
  }

  const Tensor x = steppable(self);
  const Tensor y = steppable(tensor);
  AT_DISPATCH_ALL(out0.scalar_type(), "dot", [&] {
    *out0.data_ptr<scalar_t>() =
        blas::dot<scalar_t>(x.sizes()[0], x.const_data_ptr<scalar_t>(), step_of(x),
                            y.const_data_ptr<scalar_t>(), step_of(y));
  });
}

}  // namespace at::native
