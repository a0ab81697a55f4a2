// Gradients of linear systems, inverses and determinants; see Note [Gradients of matrix functions]
// in MatrixAlgebra.h.
#include <cmath>
#include <limits>

#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/declarations/linalg/LinearSolveBackward.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/any.h"
#include "aten/ops/conj.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/expand.h"
#include "aten/ops/imag.h"
#include "aten/ops/index_select.h"
#include "aten/ops/le.h"
#include "aten/ops/linalg_det.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_pinv.h"
#include "aten/ops/linalg_solve.h"
#include "aten/ops/linalg_solve_triangular.h"
#include "aten/ops/linalg_svd.h"
#include "aten/ops/neg.h"
#include "aten/ops/prod.h"
#include "aten/ops/reshape.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

// d(A^-1) = -A^-1 dA A^-1.
Tensor _linalg_inv_backward(const Tensor& grad, const Tensor& inverse) {
  if (!grad.defined()) return {};
  const Tensor Xh = adjoint_of(inverse);
  return at::neg(product(Xh, grad, Xh));
}

namespace {

/// A^-H B, or B A^-H: by the factors that are there already, unless that would hide how it depends
/// on A.
Tensor solve_adjoint(const Tensor& A, const Tensor& LU, const Tensor& pivots, const Tensor& B,
                     bool left) {
  if (records_gradients({&A, &B})) return at::linalg_solve(adjoint_of(A), B, left);
  return at::linalg_lu_solve(LU, pivots, B, left, true);
}

/// The gradient of A in A X = B, or X A = B, from that of B.
Tensor gradient_of_matrix(const Tensor& grad_B, const Tensor& X, bool left) {
  return at::neg(left ? product(grad_B, adjoint_of(X)) : product(adjoint_of(X), grad_B));
}

}  // namespace

std::tuple<Tensor, Tensor> _linalg_solve_backward(const Tensor& grad, const Tensor& A,
                                                  const Tensor& B, bool left, const Tensor& result,
                                                  const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  const bool is_vector = is_vector_for(A, B);
  const Tensor G = is_vector ? grad.unsqueeze(-1) : grad,
               X = is_vector ? result.unsqueeze(-1) : result;
  const Tensor grad_B = solve_adjoint(A, LU, pivots, G, left);
  Tensor grad_A;
  if (A.requires_grad()) grad_A = at::sum_to_size(gradient_of_matrix(grad_B, X, left), A.sizes());
  return {grad_A, at::sum_to_size(is_vector ? grad_B.squeeze(-1) : grad_B, B.sizes())};
}

std::tuple<Tensor, Tensor> _solve_triangular_backward(const Tensor& grad, const Tensor& A,
                                                      const Tensor& B, const Tensor& result,
                                                      bool upper, bool left, bool unitriangular) {
  const Tensor grad_B =
      at::linalg_solve_triangular(adjoint_of(A), grad, !upper, left, unitriangular);
  Tensor grad_A;
  if (A.requires_grad()) {
    const Tensor full = at::sum_to_size(gradient_of_matrix(grad_B, result, left), A.sizes());
    grad_A = upper ? at::triu(full, unitriangular ? 1 : 0) : at::tril(full, unitriangular ? -1 : 0);
  }
  return {grad_A, at::sum_to_size(grad_B, B.sizes())};
}

// d(A+) = -A+ dA A+ + A+ A+^H dA^H (1 - A A+) + (1 - A+ A) dA^H A+^H A+ where the rank of A does
// not change.
Tensor _linalg_pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& self) {
  const Tensor Ph = adjoint_of(pinv), Gh = adjoint_of(grad);
  const Tensor inner = product(Ph, grad, Ph);
  const Tensor left = product(Gh, product(pinv, Ph)), right = product(product(Ph, pinv), Gh);
  return left - product(self, product(pinv, left)) + right - product(product(right, pinv), self) -
         inner;
}

std::tuple<Tensor, Tensor> _linalg_lstsq_backward(const Tensor& grad, const Tensor& A,
                                                  const Tensor& B) {
  if (!grad.defined()) return {};
  // X = A+ B; the pseudoinverse has its own gradient.
  const Tensor pinv = at::linalg_pinv(A, std::nullopt, std::nullopt, false);
  Tensor grad_A, grad_B;
  if (A.requires_grad()) {
    grad_A =
        at::sum_to_size(_linalg_pinv_backward(product(grad, adjoint_of(B)), pinv, A), A.sizes());
  }
  if (B.requires_grad()) grad_B = at::sum_to_size(product(adjoint_of(pinv), grad), B.sizes());
  return {grad_A, grad_B};
}

namespace {

Tensor as_matrix(const Tensor& number) { return number.unsqueeze(-1).unsqueeze(-1); }

/// Indices 0 to n - 1 without i, for each i.
Tensor all_but_one(int64_t n) {
  const Tensor index = empty_tensor({n * (n - 1)}, kLong, kCPU);
  int64_t* next = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (j != i) *next++ = j;
    }
  }
  return index;
}

/// Cofactors as determinants of all minors: polynomials, which have derivatives of every order. It
/// takes n^5 multiplications.
Tensor cofactors_by_minors(const Tensor& A) {
  const int64_t n = A.size(-1);
  const Tensor index = all_but_one(n);
  const IntArrayRef batch = batch_sizes(A);
  const Tensor rows =
      at::reshape(at::index_select(A, -2, index), joined_sizes(batch, {n, n - 1, n}));
  const Tensor minors =
      at::reshape(at::index_select(rows, -1, index), joined_sizes(batch, {n, n - 1, n, n - 1}))
          .transpose(-3, -2);
  const Tensor alternating = empty_tensor({n, n}, to_real(A.scalar_type()), kCPU);
  for (int64_t i = 0; i < n * n; ++i)
    alternating.select(0, i / n).select(0, i % n).fill_((i / n + i % n) % 2 ? -1 : 1);
  return at::linalg_det(minors) * alternating;
}

// Beyond this size minors take too long, and second derivatives are those of the singular vectors,
// where they exist.
constexpr int64_t kLargestByMinors = 24;

/// The matrix of cofactors, conjugated: for A = U diag(s) V^H of any rank it is det(U V^H) U
/// diag(products of the other s) V^H.
Tensor conjugate_cofactors(const Tensor& A) {
  if (records_gradients({&A}) && A.size(-1) <= kLargestByMinors)
    return at::conj(cofactors_by_minors(A));
  const auto [U, S, Vh] = at::linalg_svd(A, false, std::nullopt);
  const int64_t n = S.size(-1);
  const Tensor rows = at::expand(S.unsqueeze(-2), joined_sizes(batch_sizes(S, 1), {n, n}), false);
  const Tensor others =
      at::prod(at::masked_fill(rows, diagonal_mask(S, n), Scalar(1)), -1, false, std::nullopt);
  return as_matrix(at::conj(at::linalg_det(product(U, Vh)))) *
         product(U * others.unsqueeze(-2), Vh);
}

/// Whether the inverse of a matrix of the batch would lose a third of the digits or more.
bool is_nearly_singular(const Tensor& LU) {
  if (!LU.is_cpu() || LU.numel() == 0) return false;
  const Tensor pivots = at::abs(at::diagonal(LU.detach(), 0, -2, -1));
  const IntArrayRef last(int64_t{-1});
  const double epsilon = to_real(LU.scalar_type()) == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  return at::any(
             at::le(at::amin(pivots, last), at::amax(pivots, last) * Scalar(std::cbrt(epsilon))))
      .item<bool>();
}

}  // namespace

// d det(A) = det(A) tr(A^-1 dA); in general the trace of the adjugate times dA, which singular
// matrices have too.
Tensor _linalg_det_backward(const Tensor& grad, const Tensor& det, const Tensor& A,
                            const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  if (is_nearly_singular(LU)) return as_matrix(grad) * conjugate_cofactors(A);
  const Tensor scaled = as_matrix(grad * at::conj(det)) * identity_like(A, A.size(-1), A.size(-1));
  return solve_adjoint(A, LU, pivots, scaled, true);
}

// d log|det A| = Re tr(A^-1 dA), and the sign e^(i t) turns by dt = Im tr(A^-1 dA).
Tensor _linalg_slogdet_backward(const Tensor& grad_sign, const Tensor& grad_logabsdet,
                                const Tensor& sign, const Tensor& A, const Tensor& LU,
                                const Tensor& pivots) {
  const bool turns = grad_sign.defined() && sign.is_complex();
  if (!turns && !grad_logabsdet.defined()) return {};
  Tensor factor = grad_logabsdet;
  if (turns) {
    const Tensor turn = at::imag(grad_sign * at::conj(sign)) * Scalar(c10::complex<double>(0, 1));
    factor = factor.defined() ? factor + turn : turn;
  }
  return solve_adjoint(A, LU, pivots, as_matrix(factor) * identity_like(A, A.size(-1), A.size(-1)),
                       true);
}

}  // namespace at::native
