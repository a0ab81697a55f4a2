// Products of matrices of 8 bits on the CPU; aten/blas multiplies.
#include "aten/native/declarations/cpu/linalg/QuantizedProductKernel.h"
#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/shared/MatrixProduct.h"

namespace at::native {

namespace {

/// out = self @ mat2, where self has T.
template <class T>
void multiply_bytes(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  // See Note [Row-major products].
  const BlasMatrix left = blas_matrix(mat2);
  const BlasMatrix right = blas_matrix(self);
  const int64_t columns = out.sizes()[1];
  blas::gemm_int8<T>(left.transpose, right.transpose, columns, out.sizes()[0], self.sizes()[1],
                     left.tensor.get().const_data_ptr<int8_t>(), left.leading,
                     right.tensor.get().const_data_ptr<T>(), right.leading, out.data_ptr<int32_t>(),
                     columns);
}

/// out = self @ (mat2 * scales).T.
template <class T>
void multiply_weights(const Tensor& self, const Tensor& mat2, const Tensor& scales,
                      const Tensor& out) {
  const BlasMatrix left = blas_matrix(mat2.transpose(0, 1));
  const BlasMatrix right = blas_matrix(self);
  const int64_t columns = out.sizes()[1];
  blas::gemm_int8_weight<T>(left.transpose, right.transpose, columns, out.sizes()[0],
                            self.sizes()[1], left.tensor.get().const_data_ptr<int8_t>(),
                            left.leading, right.tensor.get().const_data_ptr<T>(), right.leading,
                            out.data_ptr<T>(), columns, scales.contiguous().const_data_ptr<T>());
}

}  // namespace

void int_mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (self.scalar_type() == kByte) multiply_bytes<uint8_t>(self, mat2, out0);
  else multiply_bytes<int8_t>(self, mat2, out0);
}

void weight_int8pack_mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& scales,
                               const Tensor& out0) {
  if (out0.numel() == 0) return;
  switch (self.scalar_type()) {
    case kFloat: return multiply_weights<float>(self, mat2, scales, out0);
    case kBFloat16: return multiply_weights<c10::BFloat16>(self, mat2, scales, out0);
    default: return multiply_weights<c10::Half>(self, mat2, scales, out0);
  }
}

}  // namespace at::native
