// The inner product of two vectors, as a product of a row and a column.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/linalg/MatrixProducts.h"
#include "aten/ops/zero.h"

namespace at::native::cuda {

void dot_kernel(const Tensor& self, const Tensor& tensor, const Tensor& out0) {
  if (self.numel() == 0) {
    at::zero_(out0);
    return;
  }
  matrix_product("dot", self.unsqueeze(0), tensor.unsqueeze(1), 0, 1, out0.view({1, 1}));
}

}  // namespace at::native::cuda
