// Powers and exponentials of square matrices; the kernel of the exponential is in
// cpu/linalg/MatrixFunctionKernel.cpp.
#include "aten/native/declarations/linalg/MatrixFunction.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/cat.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/linalg_inv.h"
#include "aten/ops/matrix_exp.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

TensorSpec matrix_exp_shape(const Tensor& self) {
  check_is_square(self, "linalg.matrix_exp");
  check_matrix_dtype(self, "linalg.matrix_exp", true);
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

// The derivative of exp at A in the direction E is the upper right block of exp([[A, E], [0, A]]).
// The adjoint of that linear map is the derivative at A^H, so the gradient is taken at A^H in the
// direction G (Najfeld and Havel, Derivatives of the Matrix Exponential, 1995).
Tensor _matrix_exp_backward(const Tensor& grad, const Tensor& self) {
  if (self.numel() == 0) return grad;
  const int64_t n = self.size(-1);

  const Tensor Ah = adjoint_of(self);
  const Tensor blocks =
      at::cat({at::cat({Ah, grad}, -1), at::cat({at::zeros_like(Ah), Ah}, -1)}, -2);
  return at::narrow(at::narrow(at::matrix_exp(blocks), -2, 0, n), -1, n, n);
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  check_is_square(self, "linalg.matrix_power");
  // Written over a copy, so that the result requires grad if self does; the gradient is zero.
  if (n == 0) {
    const Tensor result = at::clone(self, MemoryFormat::Contiguous);
    return at::copy_(result, identity_like(self, self.size(-1), self.size(-1)));
  }
  if (n == 1) return at::clone(self);

  Tensor square = self;
  if (n < 0) {
    square = at::linalg_inv(self);
    if (n == -1) return square;
  }
  // Square and multiply, from the lowest bit of |n| up; the last bit needs no further square.
  uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Tensor result;
  while (true) {
    if (rest & 1) result = result.defined() ? at::matmul(result, square) : square;
    rest >>= 1;
    if (rest == 0) return result;
    square = at::matmul(square, square);
  }
}

}  // namespace at::native
