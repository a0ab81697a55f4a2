// Products of matrices on the CPU: translates strides into the leading dimensions of BLAS. All
// arithmetic is in aten/blas, so this file is compiled once for all instruction sets.
#include "aten/native/shared/MatrixProduct.h"

#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/iteration/PlannedTensor.h"
#include "aten/ops/add.h"
#include "aten/ops/mul.h"
#include "aten/ops/zero.h"

namespace at::native {

namespace {

// Note [Row-major products]
// BLAS is column-major, tensors are mostly row-major. A row-major matrix is its own transpose in
// column-major order, so out = a @ b is computed as out^T = b^T @ a^T: operands change places, and
// a row-major one needs no transposition flag.

/// The transpose of a matrix, or of each matrix of a batch, as BLAS takes it.
struct Operand {
  PlannedTensor tensor;  // holds the memory
  blas::Transpose transpose = blas::Transpose::None;
  int64_t leading = 1;
  int64_t batch_stride = 0;
};

/// Whether lines of `length` contiguous elements, `line_stride` apart, form a matrix that BLAS
/// accepts.
bool has_lines(int64_t lines, int64_t length, int64_t line_stride, int64_t element_stride) {
  return (element_stride == 1 || length == 1) &&
         (line_stride >= std::max<int64_t>(1, length) || lines == 1);
}

Operand operand_of(PlannedTensor matrix) {
  const Tensor& tensor = matrix.get();
  const size_t last = static_cast<size_t>(tensor.dim()) - 1;
  const int64_t rows = tensor.sizes()[last - 1];
  const int64_t columns = tensor.sizes()[last];
  const int64_t row_stride = tensor.strides()[last - 1];
  const int64_t column_stride = tensor.strides()[last];
  const int64_t batch_stride = tensor.dim() == 3 ? tensor.strides()[0] : 0;

  if (has_lines(rows, columns, row_stride, column_stride)) {
    const int64_t leading = rows == 1 ? std::max<int64_t>(1, columns) : row_stride;
    return {std::move(matrix), blas::Transpose::None, leading, batch_stride};
  }
  if (has_lines(columns, rows, column_stride, row_stride)) {
    const int64_t leading = columns == 1 ? std::max<int64_t>(1, rows) : column_stride;
    return {std::move(matrix), blas::Transpose::Transpose, leading, batch_stride};
  }
  return operand_of(tensor.contiguous());
}

/// out = beta * out, without reading `out` if beta is 0.
void scale(const Tensor& out, const Scalar& beta) {
  if (beta.equal(0)) {
    at::zero_(out);
  } else if (!beta.equal(1)) {
    // Integer products truncate beta as well; a float would promote.
    at::mul_(out, is_integral(out.scalar_type(), true) ? Scalar(beta.to<int64_t>()) : beta);
  }
}

}  // namespace

Tensor steppable(const Tensor& vector) {
  return vector.sizes()[0] == 1 || vector.strides()[0] > 0 ? vector : vector.contiguous();
}

int64_t step_of(const Tensor& vector) { return vector.sizes()[0] == 1 ? 1 : vector.strides()[0]; }

void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out, const Tensor& bias) {
  if (out.numel() == 0) return;

  const int64_t m = a.size(-2);
  const int64_t n = b.size(-1);
  const int64_t k = a.size(-1);
  if (k == 0) {
    scale(out, beta);
    if (bias.defined()) at::add_(out, bias);
    return;
  }

  // See Note [Row-major products].
  const Operand left = operand_of(PlannedTensor::borrowed(b));
  const Operand right = operand_of(PlannedTensor::borrowed(a));

  AT_DISPATCH_ALL(out.scalar_type(), "addmm_impl_cpu_", [&] {
    using scale_t = blas::Scale<scalar_t>;
    const scale_t scale_product = alpha.to<scale_t>();
    const scale_t scale_out = beta.to<scale_t>();
    const scalar_t* left_data = left.tensor.get().const_data_ptr<scalar_t>();
    const scalar_t* right_data = right.tensor.get().const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();

    if (out.dim() == 2) {
      // The lanes of the transposed product are the columns of the result.
      blas::Epilogue<scalar_t> epilogue;
      const Tensor line = bias.defined() ? bias.contiguous() : bias;
      if (line.defined()) epilogue.lane_bias = line.const_data_ptr<scalar_t>();
      blas::gemm<scalar_t>(left.transpose, right.transpose, n, m, k, scale_product, left_data,
                           left.leading, right_data, right.leading, scale_out, result, n,
                           line.defined() ? &epilogue : nullptr);
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

  const int64_t rows = matrix.sizes()[0];
  const int64_t columns = matrix.sizes()[1];
  if (columns == 0) return scale(out, beta);

  const Operand operand = operand_of(PlannedTensor::borrowed(matrix));
  const Tensor x = steppable(vector);

  AT_DISPATCH_ALL(out.scalar_type(), "addmv_impl_cpu", [&] {
    using scale_t = blas::Scale<scalar_t>;
    // The operand without a flag is the transpose of the matrix.
    const bool row_major = operand.transpose == blas::Transpose::None;
    blas::gemv<scalar_t>(row_major ? blas::Transpose::Transpose : blas::Transpose::None,
                         row_major ? columns : rows, row_major ? rows : columns,
                         alpha.to<scale_t>(), operand.tensor.get().const_data_ptr<scalar_t>(),
                         operand.leading, x.const_data_ptr<scalar_t>(), step_of(x),
                         beta.to<scale_t>(), out.data_ptr<scalar_t>(), 1);
  });
}

}  // namespace at::native
