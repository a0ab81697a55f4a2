// Linear systems by LAPACK, matrix by matrix.
#include <algorithm>
#include <limits>
#include <vector>

#include "aten/native/declarations/cpu/linalg/FactorizationKernel.h"
#include "aten/native/declarations/cpu/linalg/LinearSolveKernel.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/copy.h"
#include "aten/ops/zero.h"

namespace at::native {

namespace {

lapack::LeastSquares driver_of(std::string_view name) {
  if (name == "gels") return lapack::LeastSquares::Qr;
  if (name == "gelsy") return lapack::LeastSquares::PivotedQr;
  return name == "gelsd" ? lapack::LeastSquares::DivideAndConquer : lapack::LeastSquares::Svd;
}

}  // namespace

void inv_ex_kernel(const Tensor& A, bool check_errors, const Tensor& out0, const Tensor& out1) {
  const int64_t n = A.size(-1);
  if (n == 0) {
    at::zero_(out1);
    return;
  }

  // Solves A X = I.
  const Tensor factors = column_major_copy(A);
  at::zero_(out0);

  for_matrix_type(A.scalar_type(), "inv_cpu", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    const auto LU = matrices_of<T>(factors);
    const auto info = scalars_of<int32_t>(out1);
    for_each_matrix(matrix_count(A), 2.0 * cube(n), [&](int64_t i) {
      std::vector<int32_t> pivots(n);
      *info[i] = lapack::getrf<T>(n, n, LU[i], n, pivots.data());
      for (int64_t j = 0; j < n; ++j) X[i][j * (n + 1)] = T(1);
      lapack::getrs<T>(lapack::Transpose::None, n, n, LU[i], n, pivots.data(), X[i], n);
    });
  });

  if (check_errors) check_inverse_info(out1, "linalg.inv_ex");
}

void solve_ex_kernel(const Tensor& A, const Tensor& B, bool left, bool check_errors,
                     const Tensor& out0, const Tensor& out1, const Tensor& out2,
                     const Tensor& out3) {
  lu_factor_ex_kernel(A, true, false, out1, out2, out3);
  if (check_errors) check_solve_info(out3, "torch.linalg.solve_ex");

  if (is_vector_for(A, B)) {
    // Contiguous vectors of length n are column-major n x 1 matrices.
    return lu_solve_kernel(out1, out2, B.unsqueeze(-1), true, false, out0.unsqueeze(-1));
  }
  lu_solve_kernel(out1, out2, B, left, false, out0);
}

void solve_triangular_kernel(const Tensor& self, const Tensor& B, bool upper, bool left,
                             bool unitriangular, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t m = out0.size(-2);
  const int64_t n = out0.size(-1);
  const int64_t size = self.size(-1);

  at::copy_(out0, B.expand(out0.sizes()));
  const Tensor A = self.expand(joined_sizes(batch_sizes(out0), {size, size}));

  // Read as column-major, a row-major matrix is its transpose, of which the other triangle counts.
  const bool transposed = A.is_contiguous();
  const Tensor stored = transposed ? A : as_column_major(A);

  for_matrix_type(self.scalar_type(), "triangular_solve", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    const auto F = matrices_of<T>(stored);
    const auto transpose = transposed ? lapack::Transpose::Transpose : lapack::Transpose::None;
    for_each_matrix(matrix_count(out0), static_cast<double>(m * n * size), [&](int64_t i) {
      lapack::trsm<T>(left, upper != transposed, transpose, unitriangular, m, n, F[i], size, X[i],
                      m);
    });
  });
}

void lstsq_kernel(const Tensor& A, const Tensor& B, double rcond, std::string_view driver,
                  const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  check_lapack("linalg.lstsq");
  at::zero_(out0);
  at::zero_(out1);
  at::zero_(out2);

  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t columns = B.size(-1);
  const int64_t rows = std::max(m, n);
  if (m == 0 || n == 0 || matrix_count(out0) == 0) return;

  const IntArrayRef batch = batch_sizes(out0);
  const Tensor matrices = column_major_copy(A.expand(joined_sizes(batch, {m, n})));
  // LAPACK takes the right-hand sides and returns the solutions in the same memory.
  const DimVector side_sizes = joined_sizes(batch, {rows, columns});
  const Tensor sides = empty_strided_tensor(side_sizes, column_major_strides(side_sizes),
                                            A.scalar_type(), A.device());
  at::zero_(sides);
  at::copy_(sides.narrow(-2, 0, m), B.expand(joined_sizes(batch, {m, columns})));

  const lapack::LeastSquares kind = driver_of(driver);

  for_matrix_type(A.scalar_type(), "linalg_lstsq_cpu", [&]<class T>() {
    using real_t = lapack::Real<T>;
    const auto F = matrices_of<T>(matrices);
    const auto X = matrices_of<T>(sides);
    for_each_matrix(matrix_count(out0), static_cast<double>(m * n * rows), [&](int64_t i) {
      std::vector<real_t> values(std::min(m, n));
      int32_t rank = 0;
      if (!is_finite(F[i], m * n) || !is_finite(X[i], rows * columns)) {
        std::fill_n(X[i], rows * columns, T(std::numeric_limits<real_t>::quiet_NaN()));
        return;
      }
      const int info = lapack::least_squares<T>(kind, m, n, columns, F[i], m, X[i], rows,
                                                static_cast<real_t>(rcond), values.data(), &rank);
      TORCH_CHECK_LINALG(
          info <= 0 || driver == "gels",
          "torch.linalg.lstsq: The algorithm for computing the SVD failed to converge; ", info,
          " off-diagonal elements of an intermediate bidiagonal form did not converge to zero.");
      TORCH_CHECK_LINALG(info <= 0,
                         "torch.linalg.lstsq: The least squares solution could not be computed "
                         "because the input matrix does not "
                         "have full rank (error code: ",
                         info, ").");

      if (out1.numel() > 0) out1.data_ptr<int64_t>()[i] = rank;
      if (out2.numel() > 0) std::copy(values.begin(), values.end(), vectors_of<real_t>(out2)[i]);
    });
  });

  at::copy_(out0, sides.narrow(-2, 0, n));
}

}  // namespace at::native
