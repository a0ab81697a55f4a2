// Gradients of linear systems and inverses. For the notation and the rules see Note [Gradients of
// matrix functions] in MatrixAlgebra.h.
#include "aten/native/declarations/linalg/LinearSolveBackward.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/linalg_pinv.h"
#include "aten/ops/linalg_solve_triangular.h"
#include "aten/ops/neg.h"
#include "aten/ops/sum_to_size.h"

namespace at::native {

namespace {

/// The gradient of A from that of B: -G_B X^H if A X = B, -X^H G_B if X A = B.
Tensor gradient_of_matrix(const Tensor& grad_B, const Tensor& X, bool left) {
  return at::neg(left ? product(grad_B, adjoint_of(X)) : product(adjoint_of(X), grad_B));
}

}  // namespace

// d(A^-1) = -A^-1 dA A^-1, hence G_A = -A^-H G A^-H.
Tensor _linalg_inv_backward(const Tensor& grad, const Tensor& inverse) {
  if (!grad.defined()) return {};
  const Tensor Xh = adjoint_of(inverse);
  return at::neg(product(Xh, grad, Xh));
}

// A X = B gives G_B = A^-H G, and X A = B gives G_B = G A^-H.
std::tuple<Tensor, Tensor> _linalg_solve_backward(const Tensor& grad, const Tensor& A,
                                                  const Tensor& B, bool left, const Tensor& result,
                                                  const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};

  const bool is_vector = is_vector_for(A, B);
  const Tensor G = is_vector ? grad.unsqueeze(-1) : grad;
  const Tensor X = is_vector ? result.unsqueeze(-1) : result;

  const Tensor grad_B = solve_adjoint(A, LU, pivots, G, left);
  Tensor grad_A;
  if (A.requires_grad()) grad_A = at::sum_to_size(gradient_of_matrix(grad_B, X, left), A.sizes());

  return {grad_A, at::sum_to_size(is_vector ? grad_B.squeeze(-1) : grad_B, B.sizes())};
}

// As for a full A; the gradient keeps only the triangle that is read.
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
// not change (Golub and Pereyra, The Differentiation of Pseudo-Inverses, 1973). With P = A+, left =
// G^H P P^H and right = P^H P G^H, the gradient is left - A P left + right - right P A - P^H G P^H.
Tensor _linalg_pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& self) {
  const Tensor Ph = adjoint_of(pinv);
  const Tensor Gh = adjoint_of(grad);
  const Tensor inner = product(Ph, grad, Ph);

  const Tensor left = product(Gh, product(pinv, Ph));
  const Tensor right = product(product(Ph, pinv), Gh);
  return left - product(self, product(pinv, left)) + right - product(product(right, pinv), self) -
         inner;
}

// X = A+ B gives G_B = A+^H G, and A+ receives G B^H, which its own gradient passes on to A.
std::tuple<Tensor, Tensor> _linalg_lstsq_backward(const Tensor& grad, const Tensor& A,
                                                  const Tensor& B) {
  if (!grad.defined()) return {};
  const Tensor pinv = at::linalg_pinv(A, std::nullopt, std::nullopt, false);

  Tensor grad_A, grad_B;
  if (A.requires_grad()) {
    grad_A =
        at::sum_to_size(_linalg_pinv_backward(product(grad, adjoint_of(B)), pinv, A), A.sizes());
  }
  if (B.requires_grad()) grad_B = at::sum_to_size(product(adjoint_of(pinv), grad), B.sizes());

  return {grad_A, grad_B};
}

}  // namespace at::native
