// Products of tensors that are matrices or batches of matrices.
#pragma once
#include "aten/core/Tensor.h"
#include "c10/core/ProductPrecision.h"

namespace at::native::cuda {

/// out = beta * added + alpha * a @ b for matrices, or for batches of matrices (three dimensions).
/// `out` has the dtype of a and b, or is float for reduced floats. `added` broadcasts to out, and
/// is out itself if it is undefined; with beta = 0 it is not read. a and b may have any strides;
/// out is contiguous and shares no memory with them.
void matrix_product(const char* name, const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha, const Tensor& out, const Tensor& added = {},
                    c10::Tf32Use use = c10::Tf32Use::Products);

}  // namespace at::native::cuda
