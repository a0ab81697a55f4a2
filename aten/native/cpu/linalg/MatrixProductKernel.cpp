// Products of matrices, and of matrices and vectors, on the CPU; shared/MatrixProduct.cpp computes
// them.
#include "aten/native/declarations/cpu/linalg/MatrixProductKernel.h"
#include "aten/native/shared/MatrixProduct.h"

namespace at::native {

void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  matrix_product(self, mat2, 0, 1, out0);
}
void bmm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  matrix_product(self, mat2, 0, 1, out0);
}
void mv_kernel(const Tensor& self, const Tensor& vec, const Tensor& out0) {
  matrix_vector_product(self, vec, 0, 1, out0);
}

void addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                  const Scalar& alpha, const Tensor& out0) {
  matrix_product(mat1, mat2, beta, alpha, out0, added_to(out0, self));
}

void baddbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha, const Tensor& out0) {
  matrix_product(batch1, batch2, beta, alpha, out0, added_to(out0, self));
}

}  // namespace at::native
