#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// out = beta * out + alpha * a @ b for matrices, or for batches of matrices (three dimensions). a
/// and b may have any strides and are copied only when neither dimension of their matrices is
/// contiguous; out is contiguous and shares no memory with them.
void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out);

/// out = beta * out + alpha * matrix @ vector.
void matrix_vector_product(const Tensor& matrix, const Tensor& vector, const Scalar& beta,
                           const Scalar& alpha, const Tensor& out);

/// A vector whose elements BLAS can step through.
Tensor steppable(const Tensor& vector);
int64_t step_of(const Tensor& vector);

}  // namespace at::native
