// Products of matrices and of matrices and vectors on CUDA: by cuBLASLt for floating and complex
// elements, by a kernel with a thread for each result for integers.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/linalg/MatrixProducts.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/relu.h"

namespace at::native::cuda {

void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  matrix_product("mm", self, mat2, 0, 1, out0);
}

void bmm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  matrix_product("bmm", self, mat2, 0, 1, out0);
}

void mv_kernel(const Tensor& self, const Tensor& vec, const Tensor& out0) {
  matrix_product("mv", self, vec.unsqueeze(1), 0, 1, out0.unsqueeze(1));
}

void addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                  const Scalar& alpha, const Tensor& out0) {
  matrix_product("addmm", mat1, mat2, beta, alpha, out0, added_to(out0, self));
}

void baddbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha, const Tensor& out0) {
  matrix_product("baddbmm", batch1, batch2, beta, alpha, out0, added_to(out0, self));
}

void addmm_activation_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha, bool use_gelu,
                             const Tensor& out0) {
  // The function gets sums that are not rounded yet.
  const bool widens = c10::is_reduced_floating(out0.scalar_type());
  const Tensor sums = widens ? empty_tensor(out0.sizes(), kFloat, out0.device()) : out0;
  matrix_product("_addmm_activation", mat1, mat2, beta, alpha, sums,
                 widens ? self : added_to(out0, self));
  out0.copy_(use_gelu ? at::_gelu_exact(sums) : at::relu(sums));
}

}  // namespace at::native::cuda
