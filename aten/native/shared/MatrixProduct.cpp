// Products of matrices on CPU. All arithmetic is in aten/blas, so this is compiled once; here
// strides become leading dimensions.
#include "aten/native/shared/MatrixProduct.h"

#include <algorithm>
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/declarations/shared/MatrixProduct.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/mul.h"
#include "aten/ops/zero.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

// Note [Row-major products]
// BLAS is column-major, tensors are mostly row-major. A row-major matrix is its own transpose in
// column-major order, so out = a @ b is computed as out^T = b^T @ a^T: operands change places, and
// a row-major one needs no transposition flag.

/// The transpose of a matrix, or of each matrix of a batch, as BLAS wants it.
struct Operand {
  Tensor tensor;  // holds the memory
  blas::Transpose transpose = blas::Transpose::None;
  int64_t leading = 1;
  int64_t batch_stride = 0;
};

/// Whether lines of `length` elements that lie `stride` apart make a matrix of BLAS.
bool has_lines(int64_t lines, int64_t length, int64_t line_stride, int64_t element_stride) {
  return (element_stride == 1 || length == 1) &&
         (line_stride >= std::max<int64_t>(1, length) || lines == 1);
}

Operand operand_of(const Tensor& tensor) {
  const int64_t rows = tensor.size(-2), columns = tensor.size(-1);
  const int64_t row_stride = tensor.stride(-2), column_stride = tensor.stride(-1);
  const int64_t batch_stride = tensor.dim() == 3 ? tensor.strides()[0] : 0;
  if (has_lines(rows, columns, row_stride, column_stride)) {
    return {tensor, blas::Transpose::None, rows == 1 ? std::max<int64_t>(1, columns) : row_stride,
            batch_stride};
  }
  if (has_lines(columns, rows, column_stride, row_stride)) {
    return {tensor, blas::Transpose::Transpose,
            columns == 1 ? std::max<int64_t>(1, rows) : column_stride, batch_stride};
  }
  return operand_of(tensor.contiguous());
}

/// A vector whose elements BLAS can step through.
Tensor steppable(const Tensor& vector) {
  return vector.sizes()[0] == 1 || vector.strides()[0] > 0 ? vector : vector.contiguous();
}
int64_t step_of(const Tensor& vector) { return vector.sizes()[0] == 1 ? 1 : vector.strides()[0]; }

/// beta * out, without reading out when beta is 0.
void scale(const Tensor& out, const Scalar& beta) {
  if (beta.equal(0)) {
    at::zero_(out);
  } else if (!beta.equal(1)) {
    at::mul_(out, is_integral(out.scalar_type(), true) ? Scalar(beta.to<int64_t>())
                                                       : beta);  // as the products do: no promotion
  }
}

/// Fills out with self, broadcast, unless beta makes its values irrelevant.
void start_with(const Tensor& self, const Scalar& beta, const Tensor& out) {
  if (!beta.equal(0) && !out.is_same(self)) at::copy_(out, at::expand(self, out.sizes()));
}

}  // namespace

void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t m = a.size(-2), n = b.size(-1), k = a.size(-1);
  if (k == 0) return scale(out, beta);
  const Operand left = operand_of(b), right = operand_of(a);
  AT_DISPATCH_ALL(out.scalar_type(), "addmm_impl_cpu_", [&] {
    using scale_t = blas::Scale<scalar_t>;
    const scale_t scale_product = alpha.to<scale_t>(), scale_out = beta.to<scale_t>();
    const scalar_t* left_data = left.tensor.const_data_ptr<scalar_t>();
    const scalar_t* right_data = right.tensor.const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();
    if (out.dim() == 2) {
      blas::gemm<scalar_t>(left.transpose, right.transpose, n, m, k, scale_product, left_data,
                           left.leading, right_data, right.leading, scale_out, result, n);
    } else {
      blas::gemm_batched_strided<scalar_t>(left.transpose, right.transpose, n, m, k, scale_product,
                                           left_data, left.leading, left.batch_stride, right_data,
                                           right.leading, right.batch_stride, scale_out, result, n,
                                           m * n, out.sizes()[0]);
    }
  });
}

void matrix_vector_product(const Tensor& matrix, const Tensor& vector, const Scalar& beta,
                           const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t rows = matrix.sizes()[0], columns = matrix.sizes()[1];
  if (columns == 0) return scale(out, beta);
  const Operand operand = operand_of(matrix);
  const Tensor x = steppable(vector);
  AT_DISPATCH_ALL(out.scalar_type(), "addmv_impl_cpu", [&] {
    using scale_t = blas::Scale<scalar_t>;
    // The operand without a flag is the transpose of the matrix.
    const bool row_major = operand.transpose == blas::Transpose::None;
    blas::gemv<scalar_t>(row_major ? blas::Transpose::Transpose : blas::Transpose::None,
                         row_major ? columns : rows, row_major ? rows : columns,
                         alpha.to<scale_t>(), operand.tensor.const_data_ptr<scalar_t>(),
                         operand.leading, x.const_data_ptr<scalar_t>(), step_of(x),
                         beta.to<scale_t>(), out.data_ptr<scalar_t>(), 1);
  });
}

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
  start_with(self, beta, out0);
  matrix_product(mat1, mat2, beta, alpha, out0);
}

void baddbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha, const Tensor& out0) {
  start_with(self, beta, out0);
  matrix_product(batch1, batch2, beta, alpha, out0);
}

void dot_kernel(const Tensor& self, const Tensor& tensor, const Tensor& out0) {
  if (self.numel() == 0) {
    at::zero_(out0);
    return;
  }
  const Tensor x = steppable(self), y = steppable(tensor);
  AT_DISPATCH_ALL(out0.scalar_type(), "dot", [&] {
    *out0.data_ptr<scalar_t>() =
        blas::dot<scalar_t>(x.sizes()[0], x.const_data_ptr<scalar_t>(), step_of(x),
                            y.const_data_ptr<scalar_t>(), step_of(y));
  });
}

namespace {

void fill_rows(const Tensor& bias, int64_t rows, const Tensor& out) {
  const Tensor row = bias.contiguous();
  const int64_t bytes = row.numel() * static_cast<int64_t>(row.itemsize());
  char* target = static_cast<char*>(out.data());
  parallel_for(0, rows, std::max<int64_t>(1, (int64_t{1} << 18) / std::max<int64_t>(1, bytes)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   std::memcpy(target + i * bytes, row.data(), bytes);
               });
}

}  // namespace

void linear_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;
  const int64_t inner = input.size(-1);
  const int64_t outputs = weight.dim() == 1 ? 1 : weight.sizes()[0];
  const int64_t rows = out0.numel() / outputs;
  if (bias.defined() && (weight.dim() == 1 || (bias.dim() == 1 && bias.numel() == outputs))) {
    fill_rows(bias, rows, out0);
  } else if (bias.defined()) {
    at::copy_(out0.view({rows, outputs}),
              bias.numel() == out0.numel() ? bias.reshape({rows, outputs}) : bias);
  }
  const Scalar beta = bias.defined() ? 1 : 0;
  const Tensor matrix = input.reshape({rows, inner});
  if (weight.dim() == 1) return matrix_vector_product(matrix, weight, beta, 1, out0.view({rows}));
  matrix_product(matrix, weight.transpose(0, 1), beta, 1, out0.view({rows, outputs}));
}

}  // namespace at::native
