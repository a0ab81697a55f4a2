#pragma once
// Short names for the formulas of matrix gradients, composed of differentiable operators.
//
// Note [Gradients of matrix functions]
// The gradient G of a loss with respect to X is the matrix with d(loss) = Re tr(G^H dX), written
// <G, dX>. Gradients follow by moving factors: <G, P dX Q> = <P^H G Q^H, dX>, and <G, dX^H>
// = <G^H, dX>. A mask M of zeros and ones is its own adjoint: <G, M o dX> = <M o G, dX>.
#include "aten/core/Tensor.h"
#include "aten/ops/conj_transpose.h"
#include "aten/ops/eye.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_solve.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/matmul.h"
#include "aten/ops/narrow.h"
#include "aten/ops/tril.h"
#include "aten/ops/triu.h"
#include "c10/dispatch/LocalState.h"

namespace at::native {

inline Tensor adjoint_of(const Tensor& a) { return at::conj_transpose(a); }
inline Tensor product(const Tensor& a, const Tensor& b) { return at::matmul(a, b); }
inline Tensor product(const Tensor& a, const Tensor& b, const Tensor& c) {
  return at::matmul(at::matmul(a, b), c);
}

inline Tensor identity_like(const Tensor& like, int64_t rows, int64_t columns) {
  return at::eye(rows, columns, like.scalar_type(), std::nullopt, like.device());
}

/// An n x n matrix that is True on the diagonal.
inline Tensor diagonal_mask(const Tensor& like, int64_t n) {
  return at::eye(n, n, kBool, std::nullopt, like.device());
}

/// The lower triangle with half of the diagonal. Each Hermitian X is half_lower(X) +
/// half_lower(X)^H.
inline Tensor half_lower(const Tensor& a) {
  return (at::tril(a, 0) + at::tril(a, -1)) * Scalar(0.5);
}

/// The upper triangle with half of the diagonal.
inline Tensor half_upper(const Tensor& a) {
  return (at::triu(a, 0) + at::triu(a, 1)) * Scalar(0.5);
}

/// a_ij / b_ij off the diagonal and 0 on it, for any diagonal of b.
inline Tensor divide_off_diagonal(const Tensor& a, const Tensor& b) {
  const Tensor mask = diagonal_mask(a, a.size(-1));
  return at::masked_fill(a, mask, Scalar(0)) / at::masked_fill(b, mask, Scalar(1));
}

/// Whether autograd records operators on these tensors now.
inline bool records_gradients(std::initializer_list<const Tensor*> tensors) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor* tensor : tensors) {
    if (tensor->defined() && tensor->requires_grad()) return true;
  }
  return false;
}

/// A^-H B (`left`) or B A^-H. It uses the given LU factors, unless the result has to be
/// differentiable with respect to A.
inline Tensor solve_adjoint(const Tensor& A, const Tensor& LU, const Tensor& pivots,
                            const Tensor& B, bool left) {
  if (records_gradients({&A, &B})) return at::linalg_solve(adjoint_of(A), B, left);
  return at::linalg_lu_solve(LU, pivots, B, left, true);
}

}  // namespace at::native
