// Gradients of factorisations, composed of differentiable operators. For the notation and the rules
// see Note [Gradients of matrix functions] in MatrixAlgebra.h.
#include <algorithm>

#include "aten/native/declarations/linalg/FactorizationBackward.h"
#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/_householder_product_backward.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/cat.h"
#include "aten/ops/cholesky_solve.h"
#include "aten/ops/conj.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/diag_embed.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/gt.h"
#include "aten/ops/imag.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_solve.h"
#include "aten/ops/linalg_solve_triangular.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/lu_unpack.h"
#include "aten/ops/neg.h"
#include "aten/ops/ormqr.h"
#include "aten/ops/real.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/sum.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// A^-1 B for triangular A.
Tensor solve_left(const Tensor& A, const Tensor& B, bool upper, bool unit = false) {
  return at::linalg_solve_triangular(A, B, upper, true, unit);
}

/// B A^-1 for triangular A.
Tensor solve_right(const Tensor& A, const Tensor& B, bool upper, bool unit = false) {
  return at::linalg_solve_triangular(A, B, upper, false, unit);
}

/// A * as_row(d) is A diag(d), and as_column(d) * A is diag(d) A.
Tensor as_row(const Tensor& vector) { return at::unsqueeze(vector, -2); }
Tensor as_column(const Tensor& vector) { return at::unsqueeze(vector, -1); }

/// Eigenvectors and singular vectors of complex matrices have a free phase. A loss that depends on
/// it has no gradient; `imaginary` is the derivative with respect to the phase.
void check_independent_of_phase(const char* name, const char* vectors, const Tensor& imaginary) {
  TORCH_CHECK(!can_be_checked(imaginary) ||
                  holds(at::logical_not(at::gt(at::abs(imaginary.detach()), Scalar(1e-2)))),
              name, ": The ", vectors,
              " in the complex case are specified up to multiplication by e^{i phi}. The specified "
              "loss function depends on this quantity, "
              "so it is ill-defined.");
}

/// The gradient of the triangle L or U from that of A = L L^H or A = U^H U: tril((G + G^H) L), or
/// triu(U (G + G^H)).
Tensor gradient_of_triangle(const Tensor& grad_A, const Tensor& factor, bool upper) {
  const Tensor both = grad_A + adjoint_of(grad_A);
  return upper ? at::triu(product(at::triu(factor, 0), both), 0)
               : at::tril(product(both, at::tril(factor, 0)), 0);
}

/// The gradient of B = P^T A = L U from those of L and U. For a square B and M = L^-1 dB U^-1,
/// dL = L strictly_lower(M) and dU = upper(M) U, so that G_B is
/// L^-H (strictly_lower(L^H G_L) + upper(G_U U^H)) U^-H.
/// The columns (or rows) that a wide (or tall) B has beyond the square solve a triangular system:
/// U2 = L1^-1 B2, or L2 = B2 U1^-1.
Tensor lu_backward(const Tensor& grad_L, const Tensor& grad_U, const Tensor& L, const Tensor& U) {
  const int64_t m = L.size(-2);
  const int64_t n = U.size(-1);
  const int64_t k = std::min(m, n);
  const auto top = [k](const Tensor& a) { return at::narrow(a, -2, 0, k); };
  const auto left = [k](const Tensor& a) { return at::narrow(a, -1, 0, k); };

  const Tensor L1 = top(L);
  const Tensor U1 = left(U);
  Tensor lower = product(adjoint_of(L1), top(grad_L));
  Tensor upper = product(left(grad_U), adjoint_of(U1));

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

/// C = Q^H dA R^-1 = Q^H dQ + dR R^-1 is the sum of a skew-Hermitian and an upper triangular matrix
/// with a real diagonal, hence dR R^-1 = half_upper(C + C^H). Its coefficient in d(loss) is
/// Y = G_R R^H - Q^H G_Q, so that G_A = (G_Q + Q (half_upper(Y) + half_upper(Y)^H)) R^-H.
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

/// i x for real x.
Tensor times_imaginary_unit(const Tensor& x) { return x * Scalar(c10::complex<double>(0, 1)); }

}  // namespace

// A = L L^H: with M = L^-1 dA L^-H, dL = L half_lower(M) and <G, dL> = <half_lower(L^H G), M>. The
// gradient is the Hermitian part of L^-H half_lower(L^H G) L^-1.
Tensor _cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  if (!grad.defined()) return {};

  const Tensor L = upper ? adjoint_of(factor) : factor;
  const Tensor Lh = adjoint_of(L);
  const Tensor M = half_lower(product(Lh, upper ? adjoint_of(grad) : grad));
  const Tensor full = solve_right(L, solve_left(Lh, M, true), false);

  return (full + adjoint_of(full)) * Scalar(0.5);
}

// A X = B gives G_B = A^-1 G and G_A = -G_B X^H, where A is Hermitian.
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

// X = A^-1 gives dX = -X dA X, hence G_A = -X G X for Hermitian A.
Tensor _cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse,
                                  bool upper) {
  const Tensor grad_A = at::neg(product(inverse, product(grad, inverse)));
  return gradient_of_triangle(grad_A, factor, upper);
}

// B = P^T A gives G_A = P G_B.
Tensor _lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  const auto [P, L, U] = at::lu_unpack(LU, pivots, true, true);

  const int64_t k = U.size(-2);
  return product(P, lu_backward(at::tril(at::narrow(grad, -1, 0, k), -1),
                                at::triu(at::narrow(grad, -2, 0, k), 0), L, U));
}

// A X = B gives <G, dX> = <A^-H G, dB - dA X>, hence G_B = A^-H G and G_A = -G_B X^H; the adjoint
// and right-hand forms follow in the same way. A = P L U gives G_L = strictly_lower(P^T G_A U^H)
// and G_U = upper(L^H P^T G_A).
std::tuple<Tensor, Tensor> _lu_solve_backward(const Tensor& grad, const Tensor& LU,
                                              const Tensor& pivots, const Tensor& B,
                                              const Tensor& result, bool left, bool adjoint) {
  const Tensor grad_B = at::linalg_lu_solve(LU, pivots, grad, left, !adjoint);

  Tensor grad_LU;
  if (LU.requires_grad()) {
    const Tensor X = result;
    const Tensor Y = grad_B;
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

Tensor _linalg_qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q,
                           const Tensor& R, std::string_view mode) {
  if (!grad_Q.defined() && !grad_R.defined()) return {};
  TORCH_CHECK(
      mode != "r",
      "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
      "linalg.qr(A, mode='reduced') if you are going to require gradients.");

  const int64_t m = Q.size(-2);
  const int64_t n = R.size(-1);
  TORCH_CHECK(mode != "complete" || m <= n,
              "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");

  if (m >= n) return tall_qr_backward(grad_Q, grad_R, Q, R);

  // For a wide A = [A1 A2], A1 = Q R1 and R2 = Q^H A2: G_A2 = Q G_R2, and Q also receives
  // A2 G_R2^H = Q R2 G_R2^H.
  const Tensor R1 = at::narrow(R, -1, 0, m);
  const Tensor R2 = at::narrow(R, -1, m, n - m);
  if (!grad_R.defined()) {
    return at::constant_pad_nd(tall_qr_backward(grad_Q, Tensor(), Q, R1), {0, n - m}, Scalar(0));
  }

  const Tensor grad_R1 = at::narrow(grad_R, -1, 0, m);
  const Tensor grad_R2 = at::narrow(grad_R, -1, m, n - m);
  const Tensor through_R2 = product(Q, R2, adjoint_of(grad_R2));
  const Tensor total_grad_Q = grad_Q.defined() ? grad_Q + through_R2 : through_R2;
  const Tensor first = tall_qr_backward(total_grad_Q, grad_R1, Q, R1);
  return at::cat({first, product(Q, grad_R2)}, -1);
}

// Q = H_1 ... H_k E with H_i = I - tau_i v_i v_i^H and E the first columns of the identity. The
// part of dQ from dH_i is before_i dH_i after_i with before_i = H_1 ... H_(i-1) and after_i =
// H_(i+1) ... H_k E. With G_i = before_i^H grad, the gradient of tau_i is -v^H G_i after_i^H v, and
// that of v_i is -(conj(tau_i) G_i after_i^H v + tau_i after_i G_i^H v).
std::tuple<Tensor, Tensor> _householder_product_backward(const Tensor& grad, const Tensor& input,
                                                         const Tensor& tau) {
  const int64_t m = input.size(-2);
  const int64_t n = input.size(-1);
  const int64_t k = tau.size(-1);
  const Tensor vectors = at::tril(at::narrow(input, -1, 0, k), -1) + identity_like(input, m, k);
  const auto vector = [&](int64_t i) { return at::narrow(vectors, -1, i, 1); };
  const auto factor = [&](int64_t i) { return as_column(at::narrow(tau, -1, i, 1)); };

  // In code i counts from 0, and after[i + 1] is the product that follows the reflection by
  // vector(i).
  std::vector<Tensor> after(static_cast<size_t>(k) + 1);
  after[k] = identity_like(input, m, n);
  for (int64_t i = k - 1; i > 0; --i) {
    const Tensor v = vector(i);
    after[i] = after[i + 1] - factor(i) * product(v, product(adjoint_of(v), after[i + 1]));
  }

  std::vector<Tensor> grad_vectors;
  std::vector<Tensor> grad_tau;
  Tensor G = grad;  // before_i^H grad
  for (int64_t i = 0; i < k; ++i) {
    const Tensor v = vector(i);
    const Tensor t = factor(i);
    const Tensor conjugate = at::conj(t);
    const Tensor right = product(adjoint_of(after[i + 1]), v);
    const Tensor left = product(adjoint_of(G), v);

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

// M = U^H dA V = dP S + dS - S dQ with skew-Hermitian dP = U^H dU and dQ = V^H dV. With
// E_ij = s_j^2 - s_i^2, off the diagonal dP o E = M S + S M^H and dQ o E = S M + M^H S. On the
// diagonal dS = Re M; the phase that U and V share is free, which allows dQ = 0 there. Outside of
// the spans of U and V, dU S = (I - U U^H) dA V and dV S = (I - V V^H) dA^H U.
// With X = U^H G_U and Y = V^H G_V, the gradient within the spans is
// U (((X - X^H) / E) S + S ((Y - Y^H) / E) + diag(g_S + i Im diag(X) / s)) V^H.
Tensor _linalg_svd_backward(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh,
                            bool full_matrices, const Tensor& all_U, const Tensor& S,
                            const Tensor& all_Vh) {
  const int64_t k = S.size(-1);
  // Vectors beyond the first k are an arbitrary basis of the rest; they receive no gradient.
  const auto columns = [&](const Tensor& a) {
    return full_matrices && a.defined() ? at::narrow(a, -1, 0, k) : a;
  };
  const auto rows = [&](const Tensor& a) {
    return full_matrices && a.defined() ? at::narrow(a, -2, 0, k) : a;
  };
  const Tensor U = columns(all_U);
  const Tensor Vh = rows(all_Vh);
  const Tensor gU = columns(grad_U);
  const Tensor gVh = rows(grad_Vh);

  if (!gU.defined() && !gVh.defined())
    return grad_S.defined() ? product(U * as_row(grad_S), Vh) : Tensor();

  const Tensor s = as_row(S);
  const Tensor differences = (s - as_column(S)) * (s + as_column(S));  // E

  Tensor core = grad_S.defined() ? at::diag_embed(grad_S) : Tensor();
  const auto add = [&core](const Tensor& term) { core = core.defined() ? core + term : term; };

  Tensor outside;
  Tensor phase;
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
    const Tensor gV = adjoint_of(gVh);
    const Tensor Y = product(Vh, gV);
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

// V^H dA V = M gives dL = diag(M) and dV = V (M / E) with E_ij = l_j - l_i off the diagonal. The
// gradient is V ((V^H G_V) / E + diag(g_L)) V^H.
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

// V^-1 dA V = M gives dL = diag(M) and, with K = M / E and E_ij = l_j - l_i off the diagonal,
// dV = V K - V diag(Re diag(V^H V K)), which keeps the norm of each column at 1. The gradient is
// V^-H ((V^H G_V - V^H V diag(Re diag(V^H G_V))) / conj(E) + diag(g_L)) V^H.
Tensor _linalg_eig_backward(const Tensor& grad_L, const Tensor& grad_V, const Tensor& self,
                            const Tensor& L, const Tensor& V) {
  if (!grad_L.defined() && !grad_V.defined()) return {};
  const Tensor Vh = adjoint_of(V);

  Tensor grad;
  if (!grad_V.defined()) {
    grad = at::linalg_solve(Vh, as_column(grad_L) * Vh, true);
  } else {
    const Tensor inner = product(Vh, grad_V);
    const Tensor along = at::diagonal(inner, 0, -2, -1);
    check_independent_of_phase("linalg_eig_backward", "eigenvectors", at::imag(along));

    const Tensor differences = at::conj(as_row(L) - as_column(L));
    const Tensor of_fixed_norm = inner - product(Vh, V * as_row(at::real(along)));
    Tensor core = divide_off_diagonal(of_fixed_norm, differences);
    if (grad_L.defined()) core = core + at::diag_embed(grad_L);
    grad = at::linalg_solve(Vh, product(core, Vh), true);
  }

  return self.is_complex() ? grad : at::real(grad);
}

// With the square Q that the reflectors represent, the result is op(Q) C or C op(Q), op being the
// identity or the adjoint. C receives G multiplied by the adjoint of op(Q), and Q one of the
// products of G and C below, which its own gradient passes on to the reflectors.
std::tuple<Tensor, Tensor, Tensor> _ormqr_backward(const Tensor& grad, const Tensor& self,
                                                   const Tensor& tau, const Tensor& other,
                                                   bool left, bool transpose) {
  const Tensor grad_other = at::ormqr(self, tau, grad, left, !transpose);
  if (!self.requires_grad() && !tau.requires_grad()) return {Tensor(), Tensor(), grad_other};

  Tensor grad_Q = left ? product(grad, adjoint_of(other)) : product(adjoint_of(other), grad);
  if (transpose) grad_Q = adjoint_of(grad_Q);

  const int64_t k = tau.size(-1);
  const Tensor square =
      at::constant_pad_nd(at::narrow(self, -1, 0, k), {0, self.size(-2) - k}, Scalar(0));
  const auto [grad_square, grad_tau] = at::_householder_product_backward(grad_Q, square, tau);
  const Tensor grad_self =
      at::constant_pad_nd(at::narrow(grad_square, -1, 0, k), {0, self.size(-1) - k}, Scalar(0));
  return {grad_self, grad_tau, grad_other};
}

}  // namespace at::native
