// Factorisations by LAPACK, matrix by matrix. Results are column-major, so that LAPACK works in
// their memory.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "aten/native/declarations/cpu/linalg/FactorizationKernel.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/eye.h"
#include "aten/ops/zero.h"

namespace at::native {

namespace {

/// Fills the triangle above (`upper`) or below the diagonal of a column-major matrix with zeros;
/// factorisations leave it as it was.
template <class T>
void clear_triangle(T* a, int64_t rows, int64_t columns, bool upper) {
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t begin = upper ? 0 : std::min(j + 1, rows);
    const int64_t end = upper ? std::min(j, rows) : rows;
    std::fill(a + j * rows + begin, a + j * rows + std::max(begin, end), T(0));
  }
}

/// Fills the other triangle of a Hermitian matrix.
template <class T>
void mirror(T* a, int64_t n, bool from_upper) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < j; ++i) {
      T value = from_upper ? a[i + j * n] : a[j + i * n];
      if constexpr (c10::is_complex_v<T>) value = T(value.real(), -value.imag());
      (from_upper ? a[j + i * n] : a[i + j * n]) = value;
    }
  }
}

/// Factors a column-major matrix in place without exchanging rows, as callers on devices may ask
/// for. Returns the first column, counted from 1, with a pivot of zero, or 0.
template <class T>
int32_t factor_without_exchanges(int64_t m, int64_t n, T* A, int32_t* pivots) {
  int32_t failed = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    pivots[k] = static_cast<int32_t>(k + 1);
    const T pivot = A[k * m + k];
    if (pivot == T(0)) {
      if (failed == 0) failed = static_cast<int32_t>(k + 1);
      continue;
    }

    for (int64_t i = k + 1; i < m; ++i) A[k * m + i] /= pivot;
    for (int64_t j = k + 1; j < n; ++j) {
      for (int64_t i = k + 1; i < m; ++i) A[j * m + i] -= A[k * m + i] * A[j * m + k];
    }
  }
  return failed;
}

/// LAPACK does not check pivots and would write outside of the matrix.
void check_pivots(const Tensor& pivots, int64_t n) {
  const Tensor contiguous = pivots.contiguous();
  const int32_t* data = contiguous.const_data_ptr<int32_t>();
  for (int64_t i = 0; i < contiguous.numel(); ++i) {
    TORCH_CHECK(data[i] >= 1 && data[i] <= n, "linalg.lu_solve: pivots must be between 1 and ", n,
                ", got ", data[i]);
  }
}

/// Throws if LAPACK did not find the singular values; `element` names the matrix of a batch.
void check_svd(int info, bool finite, const std::string& element) {
  TORCH_CHECK_LINALG(
      finite && info >= 0, "linalg.svd: ", element,
      "The algorithm failed to converge because the input matrix contained non-finite values.");
  TORCH_CHECK_LINALG(info == 0, "linalg.svd: ", element,
                     "The algorithm failed to converge because the input matrix is ill-conditioned "
                     "or has too many repeated singular "
                     "values (error code: ",
                     info, ").");
}

/// "(Batch element 2): " for the i-th matrix of a batch.
std::string element_name(const Tensor& A, int64_t i) {
  return A.dim() == 2 ? std::string() : c10::str("(Batch element ", i, "): ");
}

/// Eigenvalues of general matrices, and eigenvectors where `vectors` is defined.
void eigenvalues(const Tensor& self, const Tensor& values, const Tensor& vectors) {
  check_lapack("linalg.eig");
  if (self.numel() == 0) return;

  const int64_t n = self.size(-1);
  const Tensor work = column_major_copy(self);

  for_matrix_type(self.scalar_type(), "linalg_eig_cpu", [&]<class T>() {
    using complex_t = c10::complex<lapack::Real<T>>;
    const auto F = matrices_of<T>(work);
    const auto L = vectors_of<complex_t>(values);
    for_each_matrix(matrix_count(self), 10.0 * cube(n), [&](int64_t i) {
      TORCH_CHECK(is_finite(F[i], n * n),
                  "torch.linalg.eig: input tensor should not contain infs or NaNs.");
      complex_t* V = vectors.defined() ? matrices_of<complex_t>(vectors)[i] : nullptr;
      const int info = lapack::geev<T>(n, F[i], n, L[i], V);
      TORCH_CHECK_LINALG(info == 0, "linalg.eig: ", element_name(self, i),
                         "The algorithm failed to converge because the input matrix is "
                         "ill-conditioned or has too many repeated "
                         "eigenvalues (error code: ",
                         info, ").");
    });
  });
}

}  // namespace

void cholesky_ex_kernel(const Tensor& self, bool upper, bool check_errors, const Tensor& out0,
                        const Tensor& out1) {
  const int64_t n = self.size(-1);
  at::copy_(out0, self);

  for_matrix_type(self.scalar_type(), "cholesky_cpu", [&]<class T>() {
    const auto L = matrices_of<T>(out0);
    const auto info = scalars_of<int32_t>(out1);
    for_each_matrix(matrix_count(self), cube(n) / 3, [&](int64_t i) {
      *info[i] = n == 0 ? 0 : lapack::potrf<T>(upper, n, L[i], n);
      clear_triangle(L[i], n, n, !upper);
    });
  });

  if (check_errors) check_cholesky_info(out1, "linalg.cholesky_ex");
}

void cholesky_solve_kernel(const Tensor& self, const Tensor& input2, bool upper,
                           const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t n = out0.size(-2);
  const int64_t columns = out0.size(-1);

  at::copy_(out0, self.expand(out0.sizes()));
  const Tensor factors = as_column_major(input2.expand(joined_sizes(batch_sizes(out0), {n, n})));
  for_matrix_type(self.scalar_type(), "cholesky_solve_cpu", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    const auto L = matrices_of<T>(factors);
    for_each_matrix(matrix_count(out0), static_cast<double>(n * n * columns),
                    [&](int64_t i) { lapack::potrs<T>(upper, n, columns, L[i], n, X[i], n); });
  });
}

void cholesky_inverse_kernel(const Tensor& self, bool upper, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const int64_t n = out0.size(-1);
  at::copy_(out0, self);

  for_matrix_type(self.scalar_type(), "cholesky_inverse_out_cpu", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    for_each_matrix(matrix_count(out0), cube(n), [&](int64_t i) {
      const int info = lapack::potri<T>(upper, n, X[i], n);
      TORCH_CHECK_LINALG(
          info == 0, "cholesky_inverse: The diagonal element ", info,
          " is zero, the inversion could not be completed because the input matrix is singular.");
      mirror(X[i], n, upper);
    });
  });
}

void lu_factor_ex_kernel(const Tensor& A, bool pivot, bool check_errors, const Tensor& out0,
                         const Tensor& out1, const Tensor& out2) {
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  at::copy_(out0, A);

  for_matrix_type(A.scalar_type(), "lu_cpu", [&]<class T>() {
    const auto LU = matrices_of<T>(out0);
    const auto pivots = vectors_of<int32_t>(out1);
    const auto info = scalars_of<int32_t>(out2);
    for_each_matrix(matrix_count(A), static_cast<double>(m * n * std::min(m, n)), [&](int64_t i) {
      if (m == 0 || n == 0) {
        *info[i] = 0;
      } else {
        *info[i] = pivot ? lapack::getrf<T>(m, n, LU[i], m, pivots[i])
                         : factor_without_exchanges(m, n, LU[i], pivots[i]);
      }
    });
  });

  const int64_t failed = check_errors ? first_failure(out2) : -1;
  TORCH_CHECK(failed < 0, "torch.linalg.lu_factor_ex: ", batch_element(out2, failed),
              "U has a zero on its diagonal");
}

void permutation_from_pivots_kernel(const Tensor& pivots, int64_t rows, ScalarType,
                                    const Tensor& out0) {
  at::zero_(out0);
  const Tensor contiguous = pivots.contiguous();
  const int64_t count = contiguous.size(-1);
  TORCH_CHECK(count <= rows, "torch.lu_unpack: there are ", count, " pivots for ", rows, " rows");

  for_matrix_type(out0.scalar_type(), "unpack_pivots", [&]<class T>() {
    const auto P = matrices_of<T>(out0);
    const auto exchanges = vectors_of<int32_t>(contiguous);
    for_each_matrix(matrix_count(out0), static_cast<double>(rows), [&](int64_t b) {
      // Applies the exchanges to the numbers of the rows.
      std::vector<int64_t> order(rows);
      for (int64_t i = 0; i < rows; ++i) order[i] = i;

      for (int64_t i = 0; i < count; ++i) {
        const int64_t other = int64_t{exchanges[b][i]} - 1;
        TORCH_CHECK(other >= 0 && other < rows,
                    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Got ",
                    other + 1, ". Did you properly pass the result of lu_factor?");
        std::swap(order[i], order[other]);
      }

      // Row i of L U is row order[i] of A; P is row-major.
      for (int64_t i = 0; i < rows; ++i) P[b][order[i] * rows + i] = T(1);
    });
  });
}

void lu_solve_kernel(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                     bool adjoint, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t n = LU.size(-1);
  const int64_t columns = out0.size(left ? -1 : -2);
  const Tensor factors = as_column_major(LU.expand(joined_sizes(batch_sizes(out0), {n, n})));
  check_pivots(pivots, n);
  const Tensor exchanges = pivots.expand(joined_sizes(batch_sizes(out0), {n})).contiguous();

  // X A = B is A^T X^T = B^T, and a row-major X is a column-major X^T.
  at::copy_(out0, B.expand(out0.sizes()));
  for_matrix_type(LU.scalar_type(), "lu_solve_cpu", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    const auto F = matrices_of<T>(factors);
    const auto rows = vectors_of<int32_t>(exchanges);

    // X A^H = B is conj(A) X^T = B^T, which LAPACK cannot solve. Conjugated it is A X^H = B^H:
    // conjugate before and after.
    const bool conjugated = !left && adjoint && c10::is_complex_v<T>;
    const auto conjugate = [&](T* x) {
      if constexpr (c10::is_complex_v<T>) {
        for (int64_t i = 0; i < n * columns; ++i) x[i] = T(x[i].real(), -x[i].imag());
      }
    };
    const auto transpose = left
                               ? (adjoint ? lapack::Transpose::Conjugate : lapack::Transpose::None)
                               : (adjoint ? lapack::Transpose::None : lapack::Transpose::Transpose);

    for_each_matrix(matrix_count(out0), static_cast<double>(n * n * columns), [&](int64_t i) {
      if (conjugated) conjugate(X[i]);
      lapack::getrs<T>(transpose, n, columns, F[i], n, rows[i], X[i], n);
      if (conjugated) conjugate(X[i]);
    });
  });
}

void linalg_qr_kernel(const Tensor& A, std::string_view mode, const Tensor& out0,
                      const Tensor& out1) {
  check_lapack("linalg.qr");
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = std::min(m, n);
  const int64_t kept = out1.size(-2);  // rows of R, columns of Q
  const bool with_Q = mode != "r";

  if (with_Q && k == 0)
    at::copy_(
        out0,
        at::eye(m, out0.size(-1), A.scalar_type(), std::nullopt, A.device()).expand(out0.sizes()));
  if (k == 0) return;

  const Tensor factored = column_major_copy(A);
  for_matrix_type(A.scalar_type(), "qr_cpu", [&]<class T>() {
    const auto F = matrices_of<T>(factored);
    const auto Q = matrices_of<T>(out0);
    const auto R = matrices_of<T>(out1);
    for_each_matrix(matrix_count(A), 2.0 * static_cast<double>(m * n * k), [&](int64_t i) {
      std::vector<T> tau(k);
      lapack::geqrf<T>(m, n, F[i], m, tau.data());

      // R is the upper triangle of the result, Q is made of the reflectors below it.
      for (int64_t j = 0; j < n; ++j) {
        const int64_t filled = std::min(j + 1, k);
        std::copy_n(F[i] + j * m, filled, R[i] + j * kept);
        std::fill_n(R[i] + j * kept + filled, kept - filled, T(0));
      }

      if (!with_Q) return;
      std::copy_n(F[i], m * k, Q[i]);
      std::fill_n(Q[i] + m * k, m * (kept - k), T(0));
      lapack::orgqr<T>(m, kept, k, Q[i], m, tau.data());
    });
  });
}

void geqrf_kernel(const Tensor& self, const Tensor& out0, const Tensor& out1) {
  check_lapack("geqrf");
  if (self.numel() == 0) return;

  const int64_t m = self.size(-2);
  const int64_t n = self.size(-1);
  at::copy_(out0, self);

  for_matrix_type(self.scalar_type(), "geqrf_cpu", [&]<class T>() {
    const auto F = matrices_of<T>(out0);
    const auto tau = vectors_of<T>(out1);
    for_each_matrix(matrix_count(self), static_cast<double>(m * n * std::min(m, n)),
                    [&](int64_t i) { lapack::geqrf<T>(m, n, F[i], m, tau[i]); });
  });
}

void householder_product_kernel(const Tensor& input, const Tensor& tau, const Tensor& out0) {
  check_lapack("linalg.householder_product");
  if (input.numel() == 0) return;

  const int64_t m = input.size(-2);
  const int64_t n = input.size(-1);
  const int64_t k = tau.size(-1);

  at::copy_(out0, input);
  const Tensor factors = tau.contiguous();
  for_matrix_type(input.scalar_type(), "orgqr_cpu", [&]<class T>() {
    const auto Q = matrices_of<T>(out0);
    const auto t = vectors_of<T>(factors);
    for_each_matrix(matrix_count(input), static_cast<double>(m * n * std::max<int64_t>(k, 1)),
                    [&](int64_t i) { lapack::orgqr<T>(m, n, k, Q[i], m, t[i]); });
  });
}

void ormqr_kernel(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left,
                  bool transpose, const Tensor& out0) {
  check_lapack("ormqr");
  if (out0.numel() == 0) return;

  const int64_t m = out0.size(-2);
  const int64_t n = out0.size(-1);
  const int64_t k = input2.size(-1);
  const int64_t rows = self.size(-2);
  at::copy_(out0, input3);

  if (k == 0) return;

  const Tensor reflectors = as_column_major(self);
  const Tensor factors = input2.contiguous();
  for_matrix_type(self.scalar_type(), "ormqr_cpu", [&]<class T>() {
    const auto C = matrices_of<T>(out0);
    const auto F = matrices_of<T>(reflectors);
    const auto tau = vectors_of<T>(factors);
    const auto flag = transpose ? lapack::Transpose::Conjugate : lapack::Transpose::None;
    for_each_matrix(matrix_count(out0), static_cast<double>(m * n * k), [&](int64_t i) {
      lapack::ormqr<T>(left, flag, m, n, k, F[i], rows, tau[i], C[i], m);
    });
  });
}

void linalg_svd_kernel(const Tensor& A, bool full_matrices, bool compute_uv,
                       std::optional<std::string_view>, const Tensor& out0, const Tensor& out1,
                       const Tensor& out2) {
  check_lapack("linalg.svd");
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = std::min(m, n);

  // The singular vectors of an empty matrix are an identity.
  if (A.numel() == 0) {
    if (!compute_uv) return;
    const auto identity = [&A](const Tensor& out) {
      if (out.numel() > 0)
        at::copy_(out,
                  at::eye(out.size(-2), out.size(-1), A.scalar_type(), std::nullopt, A.device())
                      .expand(out.sizes()));
    };
    identity(out0);
    return identity(out2);
  }

  const Tensor work = column_major_copy(A);
  for_matrix_type(A.scalar_type(), "linalg_svd_cpu", [&]<class T>() {
    using real_t = lapack::Real<T>;
    const auto F = matrices_of<T>(work);
    const auto S = vectors_of<real_t>(out1);
    for_each_matrix(matrix_count(A), 8.0 * static_cast<double>(m * n * k), [&](int64_t i) {
      const bool finite = is_finite(F[i], m * n);

      int info = 0;
      if (finite && compute_uv) {
        const int64_t rows = full_matrices ? n : k;
        info = lapack::gesdd<T>(full_matrices ? 'A' : 'S', m, n, F[i], m, S[i],
                                matrices_of<T>(out0)[i], m, matrices_of<T>(out2)[i], rows);
      } else if (finite) {
        T unused{};
        info = lapack::gesdd<T>('N', m, n, F[i], m, S[i], &unused, m, &unused, k);
      }

      check_svd(info, finite, element_name(A, i));
    });
  });
}

void linalg_eigh_kernel(const Tensor& A, std::string_view UPLO, bool compute_v, const Tensor& out0,
                        const Tensor& out1) {
  check_lapack("linalg.eigh");
  if (A.numel() == 0) return;

  const int64_t n = A.size(-1);
  const bool upper = UPLO == "U" || UPLO == "u";

  Tensor vectors = out1;
  if (compute_v) {
    at::copy_(out1, A);
  } else {
    vectors = column_major_copy(A);
  }

  for_matrix_type(A.scalar_type(), "linalg_eigh_cpu", [&]<class T>() {
    const auto V = matrices_of<T>(vectors);
    const auto L = vectors_of<lapack::Real<T>>(out0);
    for_each_matrix(matrix_count(A), 4.0 * cube(n), [&](int64_t i) {
      const int info = lapack::syevd<T>(compute_v, upper, n, V[i], n, L[i]);
      TORCH_CHECK_LINALG(info == 0, "linalg.eigh: ", element_name(A, i),
                         "The algorithm failed to converge because the input matrix is "
                         "ill-conditioned or has too many repeated "
                         "eigenvalues (error code: ",
                         info, ").");
    });
  });
}

void linalg_eig_kernel(const Tensor& self, const Tensor& out0, const Tensor& out1) {
  eigenvalues(self, out0, out1);
}

void linalg_eigvals_kernel(const Tensor& self, const Tensor& out0) {
  eigenvalues(self, out0, Tensor());
}

}  // namespace at::native
