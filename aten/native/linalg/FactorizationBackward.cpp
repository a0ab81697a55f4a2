// Gradients of factorisations, written with differentiable operators; see Note [Gradients of matrix
// functions] in MatrixAlgebra.h.
#include <algorithm>

#include "aten/native/declarations/linalg/FactorizationBackward.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/cat.h"
#include "aten/ops/cholesky_solve.h"
#include "aten/ops/conj.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/diag_embed.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/imag.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_solve.h"
#include "aten/ops/linalg_solve_triangular.h"
#include "aten/ops/lu_unpack.h"
#include "aten/ops/neg.h"
#include "aten/ops/real.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/sum.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// A^-1 B and B A^-1 for triangular A.
Tensor solve_left(const Tensor& A, const Tensor& B, bool upper, bool unit = false) {
  return at::linalg_solve_triangular(A, B, upper, true, unit);
}
Tensor solve_right(const Tensor& A, const Tensor& B, bool upper, bool unit = false) {
  return at::linalg_solve_triangular(A, B, upper, false, unit);
}

/// A vector as the diagonal that a matrix is multiplied by, from the right or from the left.
Tensor as_row(const Tensor& vector) { return at::unsqueeze(vector, -2); }
Tensor as_column(const Tensor& vector) { return at::unsqueeze(vector, -1); }

/// Vectors of complex matrices have a free phase. A loss that depends on it has no gradient:
/// `imaginary` is its derivative.
void check_independent_of_phase(const char* name, const char* vectors, const Tensor& imaginary) {
  if (!imaginary.is_cpu() || imaginary.numel() == 0) return;
  const Tensor size = at::amax(at::abs(imaginary.detach()), IntArrayRef());
  TORCH_CHECK(!(size.item<double>() > 1e-2), name, ": The ", vectors,
              " in the complex case are specified up to multiplication by e^{i phi}. The specified "
              "loss function depends on this quantity, "
              "so it is ill-defined.");
}

}  // namespace

// A = L L^H: L^-1 dA L^-H = M gives dL = L half_lower(M), so that <G, dL> = <half_lower(L^H G), M>.
Tensor _cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  if (!grad.defined()) return {};
  const Tensor L = upper ? adjoint_of(factor) : factor;
  const Tensor Lh = adjoint_of(L);
  const Tensor M = half_lower(product(Lh, upper ? adjoint_of(grad) : grad));
  const Tensor full = solve_right(L, solve_left(Lh, M, true), false);
  return (full + adjoint_of(full)) * Scalar(0.5);
}

namespace {

/// From the gradient of A to that of the triangle that gives A = L L^H or U^H U.
Tensor gradient_of_triangle(const Tensor& grad_A, const Tensor& factor, bool upper) {
  const Tensor both = grad_A + adjoint_of(grad_A);
  return upper ? at::triu(product(at::triu(factor, 0), both), 0)
               : at::tril(product(both, at::tril(factor, 0)), 0);
}

}  // namespace

std::tuple<Tensor, Tensor> _cholesky_solve_backward(const Tensor& grad, const Tensor& self,
                                                    const Tensor& factor, const Tensor& result,
                                                    bool upper) {
  const Tensor grad_B = at::cholesky_solve(grad, factor, upper);
  Tensor grad_factor;
  if (factor.requires_grad()) {
    const Tensor grad_A =
        at::sum_to_size(at::neg(product(grad_B, adjoint_of(result))), factor.sizes());
    grad_factor = gradient_of_triangle(grad_A, factor, upper);
  }
  return {at::sum_to_size(grad_B, self.sizes()), grad_factor};
}

Tensor _cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse,
                                  bool upper) {
  return gradient_of_triangle(at::neg(product(inverse, product(grad, inverse))), factor, upper);
}

namespace {

/// The gradient of A in P^T A = L U from those of L and U; P is left to the caller. With M = L^-1
/// dA U^-1 of a square A: dL = L strictly_lower(M), dU = upper(M) U. What a wide or tall A has
/// beyond the square is a triangular system.
Tensor lu_backward(const Tensor& grad_L, const Tensor& grad_U, const Tensor& L, const Tensor& U) {
  const int64_t m = L.size(-2), n = U.size(-1), k = std::min(m, n);
  const auto top = [k](const Tensor& a) { return at::narrow(a, -2, 0, k); };
  const auto left = [k](const Tensor& a) { return at::narrow(a, -1, 0, k); };
  const Tensor L1 = top(L), U1 = left(U);
  Tensor lower = product(adjoint_of(L1), top(grad_L)),
         upper = product(left(grad_U), adjoint_of(U1));
  Tensor rest;
  if (n > k) {
    const Tensor grad_U2 = at::narrow(grad_U, -1, k, n - k);
    lower = lower - product(grad_U2, adjoint_of(at::narrow(U, -1, k, n - k)));
    rest = solve_left(adjoint_of(L1), grad_U2, true, true);
  } else if (m > k) {
    const Tensor grad_L2 = at::narrow(grad_L, -2, k, m - k);
    upper = upper - product(adjoint_of(at::narrow(L, -2, k, m - k)), grad_L2);
    rest = solve_right(adjoint_of(U1), grad_L2, false);
  }
  const Tensor middle = at::tril(lower, -1) + at::triu(upper, 0);
  const Tensor square =
      solve_right(adjoint_of(U1), solve_left(adjoint_of(L1), middle, true, true), false);
  return rest.defined() ? at::cat({square, rest}, n > k ? -1 : -2) : square;
}

}  // namespace

Tensor _lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  const auto [P, L, U] = at::lu_unpack(LU, pivots, true, true);
  const int64_t k = U.size(-2);
  return product(P, lu_backward(at::tril(at::narrow(grad, -1, 0, k), -1),
                                at::triu(at::narrow(grad, -2, 0, k), 0), L, U));
}

// A X = B gives <G, dX> = <A^-H G, dB - dA X>; the adjoint and the right-hand forms accordingly. A
// = P L U passes it on.
std::tuple<Tensor, Tensor> _lu_solve_backward(const Tensor& grad, const Tensor& LU,
                                              const Tensor& pivots, const Tensor& B,
                                              const Tensor& result, bool left, bool adjoint) {
  const Tensor grad_B = at::linalg_lu_solve(LU, pivots, grad, left, !adjoint);
  Tensor grad_LU;
  if (LU.requires_grad()) {
    const Tensor X = result, Y = grad_B;
    const Tensor grad_A = left ? (adjoint ? product(X, adjoint_of(Y)) : product(Y, adjoint_of(X)))
                               : (adjoint ? product(adjoint_of(Y), X) : product(adjoint_of(X), Y));
    const auto [P, L, U] = at::lu_unpack(LU, pivots, true, true);
    const Tensor permuted =
        at::neg(product(P.transpose(-2, -1), at::sum_to_size(grad_A, LU.sizes())));
    grad_LU = at::tril(product(permuted, adjoint_of(U)), -1) +
              at::triu(product(adjoint_of(L), permuted), 0);
  }
  return {grad_LU, at::sum_to_size(grad_B, B.sizes())};
}

namespace {

// C = Q^H dA R^-1 = Q^H dQ + dR R^-1 is the sum of a skew-Hermitian and an upper triangular matrix
// with a real diagonal, hence dR R^-1 = half_upper(C + C^H). Y collects what multiplies it.
Tensor tall_qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q,
                        const Tensor& R) {
  Tensor Y;
  if (grad_R.defined()) Y = product(grad_R, adjoint_of(R));
  if (grad_Q.defined()) {
    const Tensor part = product(adjoint_of(Q), grad_Q);
    Y = Y.defined() ? Y - part : at::neg(part);
  }
  const Tensor half = half_upper(Y);
  Tensor grad = product(Q, half + adjoint_of(half));
  if (grad_Q.defined()) grad = grad + grad_Q;
  return solve_right(adjoint_of(R), grad, false);
}

}  // namespace

Tensor _linalg_qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q,
                           const Tensor& R, std::string_view mode) {
  if (!grad_Q.defined() && !grad_R.defined()) return {};
  TORCH_CHECK(
      mode != "r",
      "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
      "linalg.qr(A, mode='reduced') if you are going to require gradients.");
  const int64_t m = Q.size(-2), n = R.size(-1);
  TORCH_CHECK(mode != "complete" || m <= n,
              "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (m >= n) return tall_qr_backward(grad_Q, grad_R, Q, R);
  // A wide A = [A1 A2] has R2 = Q^H A2 besides A1 = Q R1.
  const Tensor R1 = at::narrow(R, -1, 0, m), R2 = at::narrow(R, -1, m, n - m);
  if (!grad_R.defined()) {
    return at::constant_pad_nd(tall_qr_backward(grad_Q, Tensor(), Q, R1), {0, n - m}, Scalar(0));
  }
  const Tensor grad_R1 = at::narrow(grad_R, -1, 0, m), grad_R2 = at::narrow(grad_R, -1, m, n - m);
  const Tensor through_R2 = product(Q, R2, adjoint_of(grad_R2));
  const Tensor first =
      tall_qr_backward(grad_Q.defined() ? grad_Q + through_R2 : through_R2, grad_R1, Q, R1);
  return at::cat({first, product(Q, grad_R2)}, -1);
}

// Q = H_1 ... H_k E with H_i = I - tau_i v_i v_i^H and E the first columns of the identity. The
// part of dQ from dH_i has after_i = H_(i+1) ... H_k E to its right and before_i = H_1 ... H_(i-1)
// to its left.
std::tuple<Tensor, Tensor> _householder_product_backward(const Tensor& grad, const Tensor& input,
                                                         const Tensor& tau) {
  const int64_t m = input.size(-2), n = input.size(-1), k = tau.size(-1);
  const Tensor vectors = at::tril(at::narrow(input, -1, 0, k), -1) + identity_like(input, m, k);
  const auto vector = [&](int64_t i) { return at::narrow(vectors, -1, i, 1); };
  const auto factor = [&](int64_t i) { return as_column(at::narrow(tau, -1, i, 1)); };
  std::vector<Tensor> after(static_cast<size_t>(k) + 1);
  after[k] = identity_like(input, m, n);
  for (int64_t i = k - 1; i > 0; --i) {
    const Tensor v = vector(i);
    after[i] = after[i + 1] - factor(i) * product(v, product(adjoint_of(v), after[i + 1]));
  }
  std::vector<Tensor> grad_vectors, grad_tau;
  Tensor G = grad;  // before_i^H grad
  for (int64_t i = 0; i < k; ++i) {
    const Tensor v = vector(i), t = factor(i), conjugate = at::conj(t);
    const Tensor right = product(adjoint_of(after[i + 1]), v), left = product(adjoint_of(G), v);
    grad_tau.push_back(at::reshape(at::neg(product(adjoint_of(left), right)),
                                   joined_sizes(batch_sizes(input), {1})));
    grad_vectors.push_back(
        at::neg(conjugate * product(G, right) + t * product(after[i + 1], left)));
    G = G - conjugate * product(v, adjoint_of(left));
  }
  if (k == 0) return {input * Scalar(0), tau * Scalar(0)};
  const Tensor lower = at::tril(at::cat(grad_vectors, -1), -1);
  return {n > k ? at::constant_pad_nd(lower, {0, n - k}, Scalar(0)) : lower, at::cat(grad_tau, -1)};
}

namespace {

/// i x for real x.
Tensor times_imaginary_unit(const Tensor& x) { return x * Scalar(c10::complex<double>(0, 1)); }

}  // namespace

// M = U^H dA V = dP S + dS - S dQ with skew-Hermitian dP = U^H dU, dQ = V^H dV. Off the diagonal dP
// (s_j^2 - s_i^2) = M S + S M^H and dQ (s_j^2 - s_i^2) = S M + M^H S; on it dS = Re M, and the
// phase that U and V share is free, so that dQ = 0 may be chosen there. Outside of the spans of U
// and V, dU S = (I - U U^H) dA V and dV S = (I - V V^H) dA^H U.
Tensor _linalg_svd_backward(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh,
                            bool full_matrices, const Tensor& all_U, const Tensor& S,
                            const Tensor& all_Vh) {
  const int64_t k = S.size(-1);
  // Vectors beyond the first k are any basis of what remains; nothing can depend on them.
  const auto columns = [&](const Tensor& a) {
    return full_matrices && a.defined() ? at::narrow(a, -1, 0, k) : a;
  };
  const auto rows = [&](const Tensor& a) {
    return full_matrices && a.defined() ? at::narrow(a, -2, 0, k) : a;
  };
  const Tensor U = columns(all_U), Vh = rows(all_Vh), gU = columns(grad_U), gVh = rows(grad_Vh);
  if (!gU.defined() && !gVh.defined())
    return grad_S.defined() ? product(U * as_row(grad_S), Vh) : Tensor();
  const Tensor s = as_row(S), differences = (s - as_column(S)) * (s + as_column(S));
  Tensor core = grad_S.defined() ? at::diag_embed(grad_S) : Tensor();
  const auto add = [&core](const Tensor& term) { core = core.defined() ? core + term : term; };
  Tensor outside, phase;
  if (gU.defined()) {
    const Tensor X = product(adjoint_of(U), gU);
    add(divide_off_diagonal(X - adjoint_of(X), differences) * s);
    if (X.is_complex()) {
      phase = at::imag(at::diagonal(X, 0, -2, -1));
      add(at::diag_embed(times_imaginary_unit(phase / S)));
    }
    if (U.size(-2) > k) outside = product((gU - product(U, X)) / s, Vh);
  }
  if (gVh.defined()) {
    const Tensor gV = adjoint_of(gVh), Y = product(Vh, gV);
    add(as_column(S) * divide_off_diagonal(Y - adjoint_of(Y), differences));
    if (Y.is_complex()) {
      const Tensor part = at::imag(at::diagonal(Y, 0, -2, -1));
      phase = phase.defined() ? phase + part : part;
    }
    if (Vh.size(-1) > k) {
      const Tensor term = product(U, adjoint_of((gV - product(adjoint_of(Vh), Y)) / s));
      outside = outside.defined() ? outside + term : term;
    }
  }
  if (phase.defined()) check_independent_of_phase("svd_backward", "singular vectors", phase);
  const Tensor inside = product(U, core, Vh);
  return outside.defined() ? inside + outside : inside;
}

// V^H dA V = M gives dL = diag(M) and dV = V (M / (l_j - l_i)) off the diagonal.
Tensor _linalg_eigh_backward(const Tensor& grad_L, const Tensor& grad_V, const Tensor& L,
                             const Tensor& V) {
  const Tensor Vh = adjoint_of(V);
  if (!grad_V.defined()) return grad_L.defined() ? product(V * as_row(grad_L), Vh) : Tensor();
  const Tensor inner = product(Vh, grad_V);
  if (V.is_complex())
    check_independent_of_phase("linalg_eigh_backward", "eigenvectors",
                               at::imag(at::diagonal(inner, 0, -2, -1)));
  Tensor core = divide_off_diagonal(inner, as_row(L) - as_column(L));
  if (grad_L.defined()) core = core + at::diag_embed(grad_L);
  return product(V, core, Vh);
}

// V^-1 dA V = M gives dL = diag(M) and dV = V K - V diag(Re diag(V^H V K)), K = M / (l_j - l_i) off
// the diagonal: columns keep norm 1.
Tensor _linalg_eig_backward(const Tensor& grad_L, const Tensor& grad_V, const Tensor& self,
                            const Tensor& L, const Tensor& V) {
  if (!grad_L.defined() && !grad_V.defined()) return {};
  const Tensor Vh = adjoint_of(V);
  Tensor grad;
  if (!grad_V.defined()) {
    grad = at::linalg_solve(Vh, as_column(grad_L) * Vh, true);
  } else {
    const Tensor inner = product(Vh, grad_V), along = at::diagonal(inner, 0, -2, -1);
    check_independent_of_phase("linalg_eig_backward", "eigenvectors", at::imag(along));
    const Tensor differences = at::conj(as_row(L) - as_column(L));
    Tensor core =
        divide_off_diagonal(inner - product(Vh, V * as_row(at::real(along))), differences);
    if (grad_L.defined()) core = core + at::diag_embed(grad_L);
    grad = at::linalg_solve(Vh, product(core, Vh), true);
  }
  return self.is_complex() ? grad : at::real(grad);
}

}  // namespace at::native
