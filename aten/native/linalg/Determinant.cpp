// Determinants and their gradients; see Note [Gradients of matrix functions] in MatrixAlgebra.h.
#include <cmath>
#include <limits>

#include "aten/native/declarations/linalg/Determinant.h"
#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/_linalg_det.h"
#include "aten/ops/_linalg_slogdet.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/conj.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/imag.h"
#include "aten/ops/index_select.h"
#include "aten/ops/le.h"
#include "aten/ops/linalg_det.h"
#include "aten/ops/linalg_svd.h"
#include "aten/ops/log.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/prod.h"
#include "aten/ops/reshape.h"
#include "aten/ops/to.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

// Determinants

TensorSpec pivots_spec(const Tensor& A) {
  return {DimVector(A.sizes().slice(0, A.dim() - 1)), kInt, A.device()};
}

Tensor as_matrix(const Tensor& number) { return number.unsqueeze(-1).unsqueeze(-1); }

/// For each i from 0 to n - 1: the indices 0 to n - 1 without i.
Tensor all_but_one(int64_t n) {
  const Tensor index = empty_real_tensor({n * (n - 1)}, kLong, kCPU);
  int64_t* next = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (j != i) *next++ = j;
    }
  }
  return lifted(index);
}

/// The cofactors as signed determinants of all minors, in about n^5 multiplications. They are
/// polynomials in the elements of A and therefore have derivatives of every order.
Tensor cofactors_by_minors(const Tensor& A) {
  const int64_t n = A.size(-1);
  const IntArrayRef batch = batch_sizes(A);

  // minors[i][j] is A without row i and column j.
  const Tensor index = at::to(all_but_one(n), A.device());
  const Tensor rows =
      at::reshape(at::index_select(A, -2, index), joined_sizes(batch, {n, n - 1, n}));
  const Tensor minors =
      at::reshape(at::index_select(rows, -1, index), joined_sizes(batch, {n, n - 1, n, n - 1}))
          .transpose(-3, -2);

  // The signs (-1)^(i + j).
  const Tensor signs = empty_tensor({n, n}, to_real(A.scalar_type()), kCPU);
  for (int64_t i = 0; i < n * n; ++i)
    signs.select(0, i / n).select(0, i % n).fill_((i / n + i % n) % 2 ? -1 : 1);

  return at::linalg_det(minors) * at::to(signs, A.device());
}

// Larger matrices have too many minors. Their second derivatives come from the singular vectors,
// where these are differentiable.
constexpr int64_t kLargestByMinors = 24;

/// The conjugated matrix of cofactors, conj(det A) A^-H where A has an inverse. For A = U diag(s)
/// V^H of any rank it is conj(det(U V^H)) U diag(t) V^H, where t_i is the product of all s but s_i.
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

/// Whether inverting some matrix of the batch would lose a third of the digits or more, judged by
/// its smallest and largest pivot.
bool is_nearly_singular(const Tensor& LU) {
  if (!can_be_checked(LU) || LU.numel() == 0) return false;

  const Tensor pivots = at::abs(at::diagonal(LU.detach(), 0, -2, -1));
  constexpr int64_t last = -1;
  const double epsilon = to_real(LU.scalar_type()) == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());

  const Tensor threshold = at::amax(pivots, last) * Scalar(std::cbrt(epsilon));
  return !holds(at::logical_not(at::le(at::amin(pivots, last), threshold)));
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> linalg_det_shape(const Tensor& A) {
  check_is_square(A, "linalg.det");
  check_matrix_dtype(A, "linalg.det");
  return {{DimVector(batch_sizes(A)), A.scalar_type(), A.device()},
          column_major_spec(DimVector(A.sizes()), A),
          pivots_spec(A)};
}

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec> linalg_slogdet_shape(const Tensor& A) {
  check_is_square(A, "linalg.slogdet");
  check_matrix_dtype(A, "linalg.slogdet");
  const DimVector batch(batch_sizes(A));
  return {{batch, A.scalar_type(), A.device()},
          {batch, to_real(A.scalar_type()), A.device()},
          column_major_spec(DimVector(A.sizes()), A),
          pivots_spec(A)};
}

Tensor linalg_det(const Tensor& A) { return std::get<0>(at::_linalg_det(A)); }
Tensor det(const Tensor& self) { return at::native::linalg_det(self); }

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const auto [sign, logabsdet, LU, pivots] = at::_linalg_slogdet(A);
  return {sign, logabsdet};
}
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return linalg_slogdet(self); }

Tensor logdet(const Tensor& self) {
  const auto [sign, logabsdet] = linalg_slogdet(self);
  if (self.is_complex()) return at::log(sign) + logabsdet;
  return at::where(at::eq(sign, Scalar(-1)), Scalar(std::numeric_limits<double>::quiet_NaN()),
                   logabsdet);
}

// Jacobi's formula: d det(A) = tr(adj(A) dA), and adj(A) = det(A) A^-1 where A has an inverse. The
// gradient is g conj(det A) A^-H, or g times the conjugated cofactors where A is nearly singular.
Tensor _linalg_det_backward(const Tensor& grad, const Tensor& det, const Tensor& A,
                            const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  if (is_nearly_singular(LU)) return as_matrix(grad) * conjugate_cofactors(A);

  const Tensor scaled = as_matrix(grad * at::conj(det)) * identity_like(A, A.size(-1), A.size(-1));
  return solve_adjoint(A, LU, pivots, scaled, true);
}

// d log|det A| = Re tr(A^-1 dA), and the sign e^(i t) turns by dt = Im tr(A^-1 dA). The gradient is
// (g_logabsdet + i Im(g_sign conj(sign))) A^-H.
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
