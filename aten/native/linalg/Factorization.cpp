// Factorisations of matrices: the shapes of their results, and the operators composed of others.
// Gradients are in FactorizationBackward.cpp.
#include "aten/native/declarations/linalg/Factorization.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/_linalg_eigh.h"
#include "aten/ops/_linalg_eigvals.h"
#include "aten/ops/_linalg_svd.h"
#include "aten/ops/_permutation_from_pivots.h"
#include "aten/ops/empty.h"
#include "aten/ops/expand.h"
#include "aten/ops/linalg_cholesky_ex.h"
#include "aten/ops/linalg_eig.h"
#include "aten/ops/linalg_householder_product.h"
#include "aten/ops/linalg_lu_factor_ex.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_qr.h"
#include "aten/ops/lu_unpack.h"
#include "aten/ops/zeros.h"

namespace at::native {

namespace {

TensorSpec info_spec(const Tensor& A) { return {DimVector(batch_sizes(A)), kInt, A.device()}; }
/// The shape of a result that was not requested: zero elements.
TensorSpec empty_spec(const Tensor& A) { return {{0}, A.scalar_type(), A.device()}; }
Tensor empty_result(const Tensor& A) {
  return at::empty({0}, A.scalar_type(), std::nullopt, A.device());
}
int64_t smaller_size(const Tensor& A) { return std::min(A.size(-2), A.size(-1)); }

Tensor checked_cholesky(const Tensor& self, bool upper, const char* name) {
  check_is_square(self, name);
  check_matrix_dtype(self, name);
  const auto [L, info] = at::linalg_cholesky_ex(self, upper, is_checked_later(self));
  check_cholesky_info(info, name);
  return L;
}

}  // namespace

// Cholesky

std::tuple<TensorSpec, TensorSpec> cholesky_ex_shape(const Tensor& self, bool, bool) {
  check_is_square(self, "linalg.cholesky");
  check_matrix_dtype(self, "linalg.cholesky");
  return {column_major_spec(DimVector(self.sizes()), self), info_spec(self)};
}

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  return checked_cholesky(self, upper, "linalg.cholesky");
}

Tensor cholesky(const Tensor& self, bool upper) {
  return checked_cholesky(self, upper, "cholesky");
}

TensorSpec cholesky_solve_shape(const Tensor& self, const Tensor& input2, bool) {
  TORCH_CHECK(self.dim() >= 2, "b should have at least 2 dimensions, but has ", self.dim(),
              " dimensions instead");
  TORCH_CHECK(input2.dim() >= 2, "u should have at least 2 dimensions, but has ", input2.dim(),
              " dimensions instead");
  TORCH_CHECK(input2.size(-1) == input2.size(-2),
              "cholesky_solve: A must be batches of square matrices, but they are ",
              input2.size(-2), " by ", input2.size(-1), " matrices");
  TORCH_CHECK(input2.size(-1) == self.size(-2),
              "Incompatible matrix sizes for cholesky_solve: each A matrix is ", input2.size(-1),
              " by ", input2.size(-1), " but each b matrix is ", self.size(-2), " by ",
              self.size(-1));

  check_same_matrix_dtype(input2, self, "cholesky_solve");
  check_matrix_dtype(self, "cholesky_solve");

  const DimVector batch = broadcast_sizes(batch_sizes(self), batch_sizes(input2));
  return column_major_spec(joined_sizes(batch, {self.size(-2), self.size(-1)}), self);
}

TensorSpec cholesky_inverse_shape(const Tensor& self, bool) {
  check_is_square(self, "cholesky_inverse");
  check_matrix_dtype(self, "cholesky_inverse");
  return column_major_spec(DimVector(self.sizes()), self);
}

// LU

std::tuple<TensorSpec, TensorSpec, TensorSpec> lu_factor_ex_shape(const Tensor& A, bool pivot,
                                                                  bool) {
  check_is_matrix(A, "linalg.lu_factor");
  check_matrix_dtype(A, "linalg.lu_factor");
  TORCH_CHECK(pivot || !A.is_cpu(),
              "linalg.lu_factor: LU without pivoting is not implemented on the CPU");

  return {column_major_spec(DimVector(A.sizes()), A),
          {joined_sizes(batch_sizes(A), {smaller_size(A)}), kInt, A.device()},
          info_spec(A)};
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] = at::linalg_lu_factor_ex(A, pivot, is_checked_later(A));

  const int64_t failed = first_failure(info);
  if (failed >= 0) {
    const int32_t column = info_at(info, failed);
    TORCH_CHECK(false, "torch.linalg.lu_factor: ", batch_element(info, failed), "U[", column, ",",
                column,
                "] is zero and using it on lu_solve would result in a division by zero. If you "
                "still want to perform the factorization, "
                "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  }

  return {LU, pivots};
}

std::tuple<Tensor, Tensor, Tensor> _lu_with_info(const Tensor& self, bool pivot,
                                                 bool /*check_errors*/) {
  // Singular matrices have factors as well: as in PyTorch, only `info` tells them.
  return at::linalg_lu_factor_ex(self, pivot, false);
}

TensorSpec permutation_from_pivots_shape(const Tensor& pivots, int64_t rows, ScalarType dtype) {
  TORCH_CHECK(pivots.scalar_type() == kInt && rows >= 0,
              "expected int32 pivots of a number of rows, got ", pivots.scalar_type(), " and ",
              rows);
  return {joined_sizes(batch_sizes(pivots, 1), {rows, rows}), dtype, pivots.device()};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU, const Tensor& pivots,
                                             bool unpack_data, bool unpack_pivots) {
  TORCH_CHECK(
      pivots.scalar_type() == kInt,
      "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
      "Note: this function is intended to be used with the output produced by "
      "torch.linalg.lu_factor");
  check_is_matrix(LU, "torch.lu_unpack", "LU_data");
  check_same_device("torch.lu_unpack", {&LU, &pivots});

  const int64_t m = LU.size(-2);
  const int64_t n = LU.size(-1);
  const int64_t k = std::min(m, n);
  TORCH_CHECK(!unpack_pivots ||
                  (pivots.dim() >= 1 && pivots.sizes() == joined_sizes(batch_sizes(LU), {k})),
              "torch.lu_unpack: LU_pivots must have the shape of the batch of LU_data and ", k,
              " elements for each matrix, got ", pivots.sizes());

  Tensor P = empty_result(LU);
  Tensor L = P;
  Tensor U = P;
  const ScalarType type = LU.scalar_type();
  // The kernel exists for the dtypes of LAPACK; others are converted.
  const bool has_kernel = c10::is_complex(type) || type == kFloat || type == kDouble;

  if (unpack_pivots)
    P = at::_permutation_from_pivots(pivots, m, has_kernel ? type : kFloat).to(type);
  if (unpack_data) {
    L = at::tril(at::narrow(LU, -1, 0, k), -1) + identity_like(LU, m, k);
    U = at::triu(at::narrow(LU, -2, 0, k), 0);
  }

  return {P, L, U};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] = at::linalg_lu_factor_ex(A, pivot, false);
  return at::lu_unpack(LU, pivots, true, true);
}

TensorSpec lu_solve_shape(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                          bool) {
  const char* name = "torch.linalg.lu_solve";
  check_is_square(LU, name, "LU");
  check_is_matrix(B, name, "B");
  check_matrix_dtype(LU, name);

  TORCH_CHECK(LU.scalar_type() == B.scalar_type(),
              "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type ",
              LU.scalar_type(), " and B of type ", B.scalar_type(), " instead");
  check_same_device("linalg.lu_solve", {&LU, &pivots, &B});
  TORCH_CHECK(pivots.scalar_type() == kInt,
              "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  TORCH_CHECK(
      pivots.dim() >= 1 && pivots.sizes() == LU.sizes().slice(0, LU.dim() - 1),
      "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
  TORCH_CHECK(LU.size(-1) == B.size(left ? -2 : -1),
              "linalg.lu_solve: Incompatible shapes of A and B for the equation ",
              left ? "AX = B" : "XA = B", " (", LU.size(-2), "x", LU.size(-1), " and ", B.size(-2),
              "x", B.size(-1), ")");

  DimVector sizes =
      joined_sizes(broadcast_sizes(batch_sizes(LU), batch_sizes(B)), {B.size(-2), B.size(-1)});
  return left ? column_major_spec(std::move(sizes), B)
              : TensorSpec{std::move(sizes), B.scalar_type(), B.device()};
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return at::linalg_lu_solve(LU_data, LU_pivots, self, true, false);
}

// QR

std::tuple<TensorSpec, TensorSpec> linalg_qr_shape(const Tensor& A, std::string_view mode) {
  TORCH_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
              "qr received unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  check_is_matrix(A, "linalg.qr");
  check_matrix_dtype(A, "linalg.qr");

  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = mode == "complete" ? m : std::min(m, n);

  const TensorSpec R = column_major_spec(joined_sizes(batch_sizes(A), {k, n}), A);
  return {mode == "r" ? empty_spec(A) : column_major_spec(joined_sizes(batch_sizes(A), {m, k}), A),
          R};
}

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return at::linalg_qr(self, some ? "reduced" : "complete");
}

std::tuple<TensorSpec, TensorSpec> geqrf_shape(const Tensor& self) {
  check_is_matrix(self, "torch.geqrf", "input");
  check_matrix_dtype(self, "torch.geqrf");
  return {
      column_major_spec(DimVector(self.sizes()), self),
      {joined_sizes(batch_sizes(self), {smaller_size(self)}), self.scalar_type(), self.device()}};
}

TensorSpec householder_product_shape(const Tensor& input, const Tensor& tau) {
  const char* name = "torch.linalg.householder_product: ";
  TORCH_CHECK(input.dim() >= 2, name, "input must have at least 2 dimensions.");
  TORCH_CHECK(input.size(-2) >= input.size(-1), name,
              "input.shape[-2] must be greater than or equal to input.shape[-1]");
  TORCH_CHECK(input.dim() - tau.dim() == 1, name,
              "Expected tau to have one dimension less than input, but got tau.ndim equal to ",
              tau.dim(), " and input.ndim is equal to ", input.dim());
  TORCH_CHECK(input.size(-1) >= tau.size(-1), name,
              "input.shape[-1] must be greater than or equal to tau.shape[-1]");
  TORCH_CHECK(batch_sizes(tau, 1) == batch_sizes(input), name,
              "Expected batch dimensions of tau to be equal to input.shape[:-2], but got ",
              batch_sizes(tau, 1));
  TORCH_CHECK(tau.scalar_type() == input.scalar_type(), name, "tau dtype ", tau.scalar_type(),
              " does not match input dtype ", input.scalar_type());

  check_matrix_dtype(input, "torch.linalg.householder_product");
  check_same_device("torch.linalg.householder_product", {&input, &tau});

  return column_major_spec(DimVector(input.sizes()), input);
}

Tensor orgqr(const Tensor& self, const Tensor& input2) {
  return at::linalg_householder_product(self, input2);
}

TensorSpec ormqr_shape(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left,
                       bool) {
  TORCH_CHECK(self.dim() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  TORCH_CHECK(input3.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");

  const int64_t size = input3.size(left ? -2 : -1);
  TORCH_CHECK(input2.dim() >= 1 && size >= input2.size(-1), "torch.ormqr: other.shape[",
              left ? -2 : -1, "] must be greater than or equal to tau.shape[-1]");
  TORCH_CHECK(size == self.size(-2), "torch.ormqr: other.shape[", left ? -2 : -1,
              "] must be equal to input.shape[-2]");
  TORCH_CHECK(input2.size(-1) <= self.size(-1),
              "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]");
  TORCH_CHECK(
      batch_sizes(self) == batch_sizes(input2, 1) && batch_sizes(self) == batch_sizes(input3),
      "torch.ormqr: Expected batch dimensions of input, tau and other to be equal, but got ",
      batch_sizes(self), ", ", batch_sizes(input2, 1), " and ", batch_sizes(input3));
  TORCH_CHECK(self.scalar_type() == input2.scalar_type() &&
                  self.scalar_type() == input3.scalar_type(),
              "torch.ormqr: Expected input, tau and other to have the same dtype, but got ",
              self.scalar_type(), ", ", input2.scalar_type(), " and ", input3.scalar_type());

  check_matrix_dtype(self, "torch.ormqr");
  check_same_device("torch.ormqr", {&self, &input2, &input3});

  return column_major_spec(DimVector(input3.sizes()), input3);
}

// Singular values

std::tuple<TensorSpec, TensorSpec, TensorSpec>
linalg_svd_shape(const Tensor& A, bool full_matrices, bool compute_uv,
                 std::optional<std::string_view> driver) {
  check_is_matrix(A, "linalg.svd");
  check_matrix_dtype(A, "linalg.svd");
  TORCH_CHECK(!driver.has_value() || A.is_cuda(),
              "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
              "cuSOLVER backend.");

  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = std::min(m, n);
  const TensorSpec S{joined_sizes(batch_sizes(A), {k}), to_real(A.scalar_type()), A.device()};

  if (!compute_uv) return {empty_spec(A), S, empty_spec(A)};
  const int64_t U_columns = full_matrices ? m : k;
  const int64_t Vh_rows = full_matrices ? n : k;
  return {column_major_spec(joined_sizes(batch_sizes(A), {m, U_columns}), A), S,
          column_major_spec(joined_sizes(batch_sizes(A), {Vh_rows, n}), A)};
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices,
                                              std::optional<std::string_view> driver) {
  return at::_linalg_svd(A, full_matrices, true, driver);
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  // Only the gradient needs the singular vectors.
  return std::get<1>(at::_linalg_svd(A, false, records_gradients({&A}), driver));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  check_is_matrix(self, "linalg.svd");
  if (compute_uv) {
    const auto [U, S, Vh] = at::_linalg_svd(self, !some, true, std::nullopt);
    return {U, S, adjoint_of(Vh)};
  }

  const auto zeros = [&self](int64_t n) {
    return at::zeros(joined_sizes(batch_sizes(self), {n, n}), self.scalar_type(), std::nullopt,
                     self.device());
  };

  return {zeros(self.size(-2)), linalg_svdvals(self, std::nullopt),
          zeros(self.size(-1)).transpose(-2, -1)};
}

// Eigenvalues

std::tuple<TensorSpec, TensorSpec> linalg_eigh_shape(const Tensor& A, std::string_view UPLO,
                                                     bool compute_v) {
  TORCH_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u",
              "Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  check_is_square(A, "linalg.eigh");
  check_matrix_dtype(A, "linalg.eigh");

  const TensorSpec values{DimVector(A.sizes().slice(0, A.dim() - 1)), to_real(A.scalar_type()),
                          A.device()};
  return {values, compute_v ? column_major_spec(DimVector(A.sizes()), A) : empty_spec(A)};
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  return at::_linalg_eigh(self, UPLO, true);
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return std::get<0>(at::_linalg_eigh(self, UPLO, records_gradients({&self})));
}

std::tuple<TensorSpec, TensorSpec> linalg_eig_shape(const Tensor& self) {
  check_is_square(self, "linalg.eig");
  check_matrix_dtype(self, "linalg.eig");
  const ScalarType dtype = to_complex(self.scalar_type());
  return {{DimVector(self.sizes().slice(0, self.dim() - 1)), dtype, self.device()},
          column_major_spec(DimVector(self.sizes()), dtype, self.device())};
}

TensorSpec linalg_eigvals_shape(const Tensor& self) { return std::get<0>(linalg_eig_shape(self)); }

Tensor linalg_eigvals(const Tensor& self) {
  return records_gradients({&self}) ? std::get<0>(at::linalg_eig(self)) : at::_linalg_eigvals(self);
}

}  // namespace at::native
