#pragma once
// Products of matrices, and of a matrix and a vector, on the CPU; and what they share with those on
// devices.
#include "aten/blas/Blas.h"
#include "aten/core/Tensor.h"
#include "aten/iteration/PlannedTensor.h"

namespace at::native {

/// The transpose of a matrix, or of each matrix of a batch, as BLAS takes it.
struct BlasMatrix {
  PlannedTensor tensor;  // holds the memory
  blas::Transpose transpose = blas::Transpose::None;
  int64_t leading = 1;
  int64_t batch_stride = 0;
};

/// Copies a matrix only when neither of its dimensions is contiguous.
TORCH_PY_API BlasMatrix blas_matrix(PlannedTensor matrix);

/// Functions that change elements of a product while they are in the cache, in the type in which
/// they are summed. Not for integers and complex numbers.
struct Activation {
  void (*single)(float* elements, int64_t count) = nullptr;
  void (*twice)(double* elements, int64_t count) = nullptr;
};

/// out = beta * added + alpha * a @ b for matrices, or for batches of matrices (three dimensions),
/// and then the activation. `added` broadcasts to out, and is out itself if it is undefined; with
/// beta = 0 it is not read. a and b may have any strides; out is contiguous and shares no memory
/// with them.
void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out, const Tensor& added = {}, const Activation& then = {});

/// What an operator adds to the product in `out`; undefined if the operator is in place, so that it
/// is in `out` already. Two tensors may be the same memory, as the copies of a device's tensors
/// are.
inline Tensor added_to(const Tensor& out, const Tensor& self) {
  const bool is_in_place = out.data() == self.data() && out.sizes() == self.sizes();
  return is_in_place ? Tensor() : self;
}

/// out = beta * out, without reading `out` if beta is 0: a product with nothing to sum.
TORCH_PY_API void scale_product(const Tensor& out, const Scalar& beta);

/// out = beta * out + alpha * matrix @ vector.
void matrix_vector_product(const Tensor& matrix, const Tensor& vector, const Scalar& beta,
                           const Scalar& alpha, const Tensor& out);

/// The vector itself if BLAS can step through its elements, otherwise a contiguous copy.
Tensor steppable(const Tensor& vector);

/// The step from one element of such a vector to the next.
int64_t step_of(const Tensor& vector);

}  // namespace at::native
