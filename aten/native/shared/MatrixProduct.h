#pragma once
// Products of matrices, and of a matrix and a vector, on the CPU.
#include "aten/core/Tensor.h"

namespace at::native {

/// out = beta * out + alpha * a @ b for matrices, or for batches of matrices (three dimensions). a
/// and b may have any strides and are copied only when neither dimension of their matrices is
/// contiguous; out is contiguous and shares no memory with them. If `bias` is defined, a vector
/// that is added to every row of the result, out is a matrix.
void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out, const Tensor& bias = {});

/// out = beta * out + alpha * matrix @ vector.
void matrix_vector_product(const Tensor& matrix, const Tensor& vector, const Scalar& beta,
                           const Scalar& alpha, const Tensor& out);

/// The vector itself if BLAS can step through its elements, otherwise a contiguous copy.
Tensor steppable(const Tensor& vector);

/// The step from one element of such a vector to the next.
int64_t step_of(const Tensor& vector);

}  // namespace at::native
