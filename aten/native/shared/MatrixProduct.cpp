// Products of matrices on the CPU: translates strides into the leading dimensions of BLAS. All
// arithmetic is in aten/blas, so this file is compiled once for all instruction sets.
#include "aten/native/shared/MatrixProduct.h"

#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/mul.h"
#include "aten/ops/select.h"
#include "aten/ops/view.h"
#include "aten/ops/zero.h"

namespace at::native {

namespace {

// Note [Row-major products]
// BLAS is column-major, tensors are mostly row-major. A row-major matrix is its own transpose in
// column-major order, so out = a @ b is computed as out^T = b^T @ a^T: operands change places, and
// a row-major one needs no transposition flag.

/// Whether lines of `length` contiguous elements, `line_stride` apart, form a matrix that BLAS
/// accepts.
bool has_lines(int64_t lines, int64_t length, int64_t line_stride, int64_t element_stride) {
  return (element_stride == 1 || length == 1) &&
         (line_stride >= std::max<int64_t>(1, length) || lines == 1);
}

/// The distance between the elements of `added` along dimension d of `out`, to which it broadcasts.
int64_t broadcast_step(const Tensor& added, const Tensor& out, int64_t d) {
  d -= out.dim() - added.dim();
  return d < 0 || added.sizes()[d] == 1 ? 0 : added.strides()[d];
}

template <class T>
blas::Epilogue<T> epilogue_of(const Tensor& added, const Scalar& beta, const Activation& then,
                              const Tensor& out) {
  blas::Epilogue<T> epilogue;
  if (added.defined()) {
    // See Note [Row-major products]: the rows of the transposed product are columns of `out`.
    epilogue.added = added.const_data_ptr<T>();
    epilogue.row_step = broadcast_step(added, out, out.dim() - 1);
    epilogue.column_step = broadcast_step(added, out, out.dim() - 2);
    epilogue.batch_step = out.dim() == 3 ? broadcast_step(added, out, 0) : 0;
    epilogue.factor = beta.to<blas::Scale<T>>();
  }

  if constexpr (std::is_same_v<blas::Scale<T>, float>) epilogue.activation = then.single;
  if constexpr (std::is_same_v<T, double>) epilogue.activation = then.twice;
  return epilogue;
}

/// Whether each matrix of the batch `a` is multiplied with the same one, as a weight is that many
/// samples share: their rows are then those of one matrix.
bool shares_right(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3 || a.sizes()[0] == 1 || b.strides()[0] != 0) return false;
  const int64_t row_stride = a.sizes()[1] == 1 ? a.strides()[0] : a.strides()[1];
  return a.strides()[0] == a.sizes()[1] * row_stride;
}

}  // namespace

BlasMatrix blas_matrix(PlannedTensor matrix) {
  const Tensor& tensor = matrix.get();
  const int64_t rows = tensor.size(-2);
  const int64_t columns = tensor.size(-1);
  const int64_t row_stride = tensor.stride(-2);
  const int64_t column_stride = tensor.stride(-1);
  const int64_t batch_stride = tensor.dim() == 3 ? tensor.strides()[0] : 0;

  // Nothing is read, and a copy would have the same strides.
  if (tensor.numel() == 0) return {tensor, blas::Transpose::None, std::max<int64_t>(1, columns), 0};

  if (has_lines(rows, columns, row_stride, column_stride)) {
    const int64_t leading = rows == 1 ? std::max<int64_t>(1, columns) : row_stride;
    return {std::move(matrix), blas::Transpose::None, leading, batch_stride};
  }
  if (has_lines(columns, rows, column_stride, row_stride)) {
    const int64_t leading = columns == 1 ? std::max<int64_t>(1, rows) : column_stride;
    return {std::move(matrix), blas::Transpose::Transpose, leading, batch_stride};
  }
  return blas_matrix(tensor.contiguous());
}

void scale_product(const Tensor& out, const Scalar& beta) {
  if (beta.equal(0)) {
    at::zero_(out);
  } else if (!beta.equal(1)) {
    // Integer products truncate beta as well; a float would promote.
    at::mul_(out, is_integral(out.scalar_type(), true) ? Scalar(beta.to<int64_t>()) : beta);
  }
}

Tensor steppable(const Tensor& vector) {
  return vector.sizes()[0] == 1 || vector.strides()[0] > 0 ? vector : vector.contiguous();
}

int64_t step_of(const Tensor& vector) { return vector.sizes()[0] == 1 ? 1 : vector.strides()[0]; }

void matrix_product(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                    const Tensor& out, const Tensor& added, const Activation& then) {
  if (out.numel() == 0) return;

  const bool adds = added.defined() && !beta.equal(0);
  if (!adds && shares_right(a, b)) {
    const int64_t rows = a.sizes()[0] * a.sizes()[1];
    const int64_t row_stride = a.sizes()[1] == 1 ? a.strides()[0] : a.strides()[1];
    const Tensor left =
        at::as_strided(a, {rows, a.sizes()[2]}, {row_stride, a.strides()[2]}, a.storage_offset());
    return matrix_product(left, at::select(b, 0, 0), added.defined() ? Scalar(0) : beta, alpha,
                          at::view(out, {rows, out.sizes()[2]}), {}, then);
  }

  const int64_t m = a.size(-2);
  const int64_t n = b.size(-1);
  const int64_t k = a.size(-1);

  // See Note [Row-major products].
  const BlasMatrix left = blas_matrix(PlannedTensor::borrowed(b));
  const BlasMatrix right = blas_matrix(PlannedTensor::borrowed(a));

  AT_DISPATCH_ALL(out.scalar_type(), "addmm_impl_cpu_", [&] {
    using scale_t = blas::Scale<scalar_t>;
    const scale_t scale_product = alpha.to<scale_t>();
    const scale_t scale_out = added.defined() ? scale_t(0) : beta.to<scale_t>();
    const auto epilogue = epilogue_of<scalar_t>(adds ? added : Tensor(), beta, then, out);
    const auto* const finish =
        epilogue.added != nullptr || epilogue.activation != nullptr ? &epilogue : nullptr;

    const scalar_t* left_data = left.tensor.get().const_data_ptr<scalar_t>();
    const scalar_t* right_data = right.tensor.get().const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();

    if (out.dim() == 2) {
      blas::gemm<scalar_t>(left.transpose, right.transpose, n, m, k, scale_product, left_data,
                           left.leading, right_data, right.leading, scale_out, result, n, finish);
    } else {
      blas::gemm_batched_strided<scalar_t>(left.transpose, right.transpose, n, m, k, scale_product,
                                           left_data, left.leading, left.batch_stride, right_data,
                                           right.leading, right.batch_stride, scale_out, result, n,
                                           m * n, out.sizes()[0], finish);
    }
  });
}

void matrix_vector_product(const Tensor& matrix, const Tensor& vector, const Scalar& beta,
                           const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;

  const int64_t rows = matrix.sizes()[0];
  const int64_t columns = matrix.sizes()[1];
  if (columns == 0) return scale_product(out, beta);

  const BlasMatrix operand = blas_matrix(PlannedTensor::borrowed(matrix));
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
