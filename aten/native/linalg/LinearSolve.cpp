// Linear systems and inverses: the shapes of results, and the operators composed of others.
// Gradients are in LinearSolveBackward.cpp.
#include <algorithm>
#include <limits>

#include "aten/native/declarations/linalg/LinearSolve.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ProductChecks.h"
#include "aten/ops/_linalg_lstsq.h"
#include "aten/ops/_linalg_solve_ex.h"
#include "aten/ops/abs.h"
#include "aten/ops/all.h"
#include "aten/ops/amax.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/empty.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/full.h"
#include "aten/ops/gt.h"
#include "aten/ops/linalg_eigh.h"
#include "aten/ops/linalg_inv.h"
#include "aten/ops/linalg_inv_ex.h"
#include "aten/ops/linalg_pinv.h"
#include "aten/ops/linalg_solve.h"
#include "aten/ops/linalg_solve_triangular.h"
#include "aten/ops/linalg_svd.h"
#include "aten/ops/maximum.h"
#include "aten/ops/movedim.h"
#include "aten/ops/real.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

double epsilon_of(ScalarType dtype) {
  return to_real(dtype) == kDouble ? std::numeric_limits<double>::epsilon()
                                   : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// |A X - B|^2 of each column if the system has more equations than unknowns and all matrices have
/// full rank; otherwise an empty tensor.
Tensor residuals_of(const Tensor& A, const Tensor& B, const Tensor& X, const Tensor& rank,
                    std::string_view driver) {
  const bool regular = driver == "gels" || (driver != "gelsy" &&
                                            at::all(at::eq(rank, Scalar(A.size(-1)))).item<bool>());
  if (A.size(-2) <= A.size(-1) || !regular)
    return at::empty({0}, to_real(A.scalar_type()), std::nullopt, A.device());

  const Tensor rest = product(A, X) - B;
  const Tensor squares = rest.is_complex() ? at::real(rest * at::conj(rest)) : rest * rest;
  return at::sum(squares, IntArrayRef(int64_t{-2}));
}

// Pseudoinverses

/// Tolerances as tensors that broadcast against singular values.
struct Tolerance {
  Tensor absolute, relative;
};

/// `name` is the operator in error messages. Without rtol, a positive atol makes it 0.
Tolerance tolerance_of(const Tensor& self, const Tensor& atol, const Tensor& rtol,
                       const char* name) {
  for (const Tensor* tensor : {&atol, &rtol}) {
    TORCH_CHECK(!tensor->defined() || !tensor->is_complex(), name,
                ": atol and rtol must not be complex, got ",
                tensor->defined() ? tensor->scalar_type() : kFloat);
  }

  const ScalarType dtype = to_real(self.scalar_type());
  const auto number = [&](double value) {
    return at::full({}, Scalar(value), dtype, std::nullopt, self.device());
  };

  const double usual =
      epsilon_of(self.scalar_type()) * static_cast<double>(std::max(self.size(-2), self.size(-1)));
  const Tensor absolute = atol.defined() ? atol : number(0);

  Tensor relative = rtol;
  if (!rtol.defined())
    relative = atol.defined() ? at::where(at::gt(atol, Scalar(0)), Scalar(0.0), number(usual))
                              : number(usual);

  return {absolute.to(dtype).unsqueeze(-1), relative.to(dtype).unsqueeze(-1)};
}

/// 1 / values above the tolerance and 0 elsewhere, as a row.
Tensor inverted(const Tensor& values, const Tolerance& tolerance) {
  const Tensor size = at::abs(values);
  const Tensor largest = at::amax(size, IntArrayRef(int64_t{-1}), true);
  const Tensor cutoff = at::maximum(tolerance.absolute, tolerance.relative * largest);

  const Tensor counts = at::gt(size, cutoff);
  return at::where(counts, at::reciprocal(at::where(counts, values, Scalar(1.0))), Scalar(0.0))
      .to(values.scalar_type())
      .unsqueeze(-2);
}

Tensor as_tensor(const std::optional<double>& value, const Tensor& self) {
  return value.has_value() ? at::full({}, Scalar(*value), to_real(self.scalar_type()), std::nullopt,
                                      self.device())
                           : Tensor();
}

}  // namespace

// Inverses

std::tuple<TensorSpec, TensorSpec> inv_ex_shape(const Tensor& A, bool) {
  check_is_square(A, "linalg.inv");
  check_matrix_dtype(A, "linalg.inv");
  return {column_major_spec(DimVector(A.sizes()), A),
          {DimVector(batch_sizes(A)), kInt, A.device()}};
}

Tensor linalg_inv(const Tensor& A) {
  const auto [result, info] = at::linalg_inv_ex(A, is_checked_later(A));
  check_inverse_info(info, "linalg.inv");
  return result;
}

Tensor inverse(const Tensor& self) { return at::linalg_inv(self); }

// Systems of equations

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec>
solve_ex_shape(const Tensor& A, const Tensor& B, bool left, bool) {
  const char* name = "linalg.solve";
  check_is_square(A, name);
  check_matrix_dtype(A, name);
  check_same_matrix_dtype(A, B, name);

  const bool is_vector = is_vector_for(A, B);
  TORCH_CHECK(!is_vector || left, "linalg.solve: Vector broadcasting of the left hand side is not "
                                  "supported for left=False. In this case "
                                  "linalg.solve is equivalent to B / A.squeeze(-1)");
  if (!is_vector) check_is_matrix(B, name, "B");

  const int64_t n = A.size(-1);
  const int64_t rows = is_vector ? B.size(-1) : B.size(-2);
  const int64_t columns = is_vector ? 1 : B.size(-1);
  TORCH_CHECK((left ? rows : columns) == n,
              "linalg.solve: Incompatible shapes of A and B for the equation ",
              left ? "AX = B" : "XA = B", " (", n, "x", n, " and ", rows, "x", columns, ")");

  const DimVector batch = broadcast_sizes(batch_sizes(A), batch_sizes(B, is_vector ? 1 : 2));
  TensorSpec X{is_vector ? joined_sizes(batch, {rows}) : joined_sizes(batch, {rows, columns}),
               A.scalar_type(), A.device()};
  if (!is_vector && left) X = column_major_spec(X.sizes, A);

  return {X,
          column_major_spec(DimVector(A.sizes()), A),
          {DimVector(A.sizes().slice(0, A.dim() - 1)), kInt, A.device()},
          {DimVector(batch_sizes(A)), kInt, A.device()}};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                           bool check_errors) {
  const auto [result, LU, pivots, info] =
      at::_linalg_solve_ex(A, B, left, check_errors && is_checked_later(A));
  if (check_errors) check_solve_info(info, "torch.linalg.solve_ex");
  return {result, info};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [result, LU, pivots, info] = at::_linalg_solve_ex(A, B, left, is_checked_later(A));
  check_solve_info(info, "torch.linalg.solve");
  return result;
}

TensorSpec solve_triangular_shape(const Tensor& self, const Tensor& B, bool, bool left, bool) {
  const char* name = "linalg.solve_triangular";
  check_is_square(self, name);
  check_is_matrix(B, name, "B");
  check_matrix_dtype(self, name);
  check_same_matrix_dtype(self, B, name);
  TORCH_CHECK(self.size(-1) == B.size(left ? -2 : -1), name,
              ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
              " (", self.size(-2), "x", self.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");

  return column_major_spec(
      joined_sizes(broadcast_sizes(batch_sizes(self), batch_sizes(B)), {B.size(-2), B.size(-1)}),
      B);
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper,
                                            bool transpose, bool unitriangular) {
  check_is_square(A, "triangular_solve");
  check_is_matrix(self, "triangular_solve", "b");

  const Tensor solution =
      transpose
          ? at::linalg_solve_triangular(A.transpose(-2, -1), self, !upper, true, unitriangular)
          : at::linalg_solve_triangular(A, self, upper, true, unitriangular);

  const DimVector batch(batch_sizes(solution));
  const Tensor transposed =
      A.transpose(-2, -1).expand(joined_sizes(batch, {A.size(-1), A.size(-2)}));
  return {solution, at::clone(transposed, MemoryFormat::Contiguous).transpose(-2, -1)};
}

// Least squares

std::tuple<TensorSpec, TensorSpec, TensorSpec> lstsq_shape(const Tensor& A, const Tensor& B, double,
                                                           std::string_view driver) {
  const DimVector batch = broadcast_sizes(batch_sizes(A), batch_sizes(B));
  check_same_matrix_dtype(A, B, "torch.linalg.lstsq");
  check_matrix_dtype(A, "torch.linalg.lstsq");
  TORCH_CHECK(A.size(-2) == B.size(-2),
              "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");

  const bool has_rank = driver != "gels";
  const bool has_values = driver == "gelsd" || driver == "gelss";
  const int64_t k = std::min(A.size(-2), A.size(-1));
  return {
      column_major_spec(joined_sizes(batch, {A.size(-1), B.size(-1)}), A),
      {has_rank ? batch : DimVector{0}, kLong, A.device()},
      {has_values ? joined_sizes(batch, {k}) : DimVector{0}, to_real(A.scalar_type()), A.device()}};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  TORCH_CHECK(self.dim() >= 2, "torch.linalg.lstsq: input must have at least 2 dimensions.");
  TORCH_CHECK(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  TORCH_CHECK(
      self.scalar_type() == b.scalar_type(),
      "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
      "dtype ",
      self.scalar_type(), " and other's dtype ", b.scalar_type());
  check_matrix_dtype(self, "torch.linalg.lstsq");

  const int64_t missing = self.dim() - b.dim();
  TORCH_CHECK(missing >= 0,
              "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim()");
  TORCH_CHECK(missing <= 1,
              "torch.linalg.lstsq: (input.dim() - other.dim()) must be 0 or 1, but is ", missing);

  const Tensor B = missing == 1 ? b.unsqueeze(-1) : b;
  TORCH_CHECK(self.size(-2) == B.size(-2),
              missing == 1 ? "torch.linalg.lstsq: input.size(-2) should match other.size(-1)"
                           : "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");

  const std::string_view chosen = driver.value_or("gelsy");
  TORCH_CHECK(
      chosen == "gels" || chosen == "gelsy" || chosen == "gelsd" || chosen == "gelss",
      "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");

  const double tolerance = rcond.value_or(
      epsilon_of(self.scalar_type()) * static_cast<double>(std::max(self.size(-2), self.size(-1))));

  const auto [X, rank, values] = at::_linalg_lstsq(self, B, tolerance, chosen);
  const Tensor residuals = residuals_of(self, B, X, rank, chosen);

  // The singular values are a diagnosis of the driver without gradient; linalg.svdvals has one.
  return {missing == 1 ? X.squeeze(-1) : X, residuals, rank, values.detach()};
}

Tensor linalg_pinv_tensors(const Tensor& self, const Tensor& atol, const Tensor& rtol,
                           bool hermitian) {
  check_is_matrix(self, "linalg.pinv");
  check_matrix_dtype(self, "linalg.pinv");
  if (hermitian) check_is_square(self, "linalg.pinv");

  const Tolerance tolerance = tolerance_of(self, atol, rtol, "torch.linalg.pinv");
  if (self.numel() == 0) {
    return at::empty(joined_sizes(batch_sizes(self), {self.size(-1), self.size(-2)}),
                     self.scalar_type(), std::nullopt, self.device());
  }

  if (hermitian) {
    const auto [L, V] = at::linalg_eigh(self, "L");
    return product(V * inverted(L, tolerance), adjoint_of(V));
  }

  const auto [U, S, Vh] = at::linalg_svd(self, false, std::nullopt);
  return product(adjoint_of(Vh) * inverted(S, tolerance), adjoint_of(U));
}

Tensor linalg_pinv_floats(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  check_matrix_dtype(self, "linalg.pinv");
  return at::linalg_pinv(self, as_tensor(atol, self), as_tensor(rtol, self), hermitian);
}

Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return native::linalg_pinv_floats(self, 0.0, rcond, hermitian);
}

Tensor linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  check_matrix_dtype(self, "linalg.pinv");
  return at::linalg_pinv(self, as_tensor(0.0, self), rcond, hermitian);
}

Tensor pinverse(const Tensor& self, double rcond) { return at::linalg_pinv(self, rcond, false); }

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  TORCH_CHECK(ind > 0, "Expected a strictly positive integer for 'ind', but got ", ind);

  const int64_t split = std::min(ind, self.dim());
  const IntArrayRef first = self.sizes().slice(0, split);
  const IntArrayRef last = self.sizes().slice(split);
  const int64_t rows = product_of(first);
  const int64_t columns = product_of(last);

  TORCH_CHECK(rows == columns,
              "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
              "prod(self.shape[:ind]), but got ",
              columns, " != ", rows);

  DimVector sizes(last);
  sizes.append(first);
  return at::reshape(at::linalg_inv(at::reshape(self, {rows, columns})), sizes);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  Tensor A = self;
  if (dims.has_value()) {
    // Moves the given dimensions to the end.
    DimVector ends(dims->size());
    for (size_t i = 0; i < ends.size(); ++i)
      ends[i] = self.dim() - static_cast<int64_t>(ends.size() - i);
    A = at::movedim(self, *dims, ends);
  }

  const int64_t split = std::min(other.dim(), A.dim());
  const IntArrayRef unknowns = A.sizes().slice(split);
  const int64_t columns = product_of(unknowns);
  const int64_t rows = product_of(A.sizes().slice(0, split));

  TORCH_CHECK(rows == columns,
              "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
              "prod(self.shape[:other.ndim]), "
              "but got ",
              columns, " != ", rows);

  const Tensor solution =
      at::linalg_solve(at::reshape(A, {rows, columns}), at::reshape(other, {-1}), true);
  return at::reshape(solution, unknowns);
}

}  // namespace at::native
