// Condition numbers and ranks of matrices, computed from singular values or norms.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/native/declarations/linalg/Conditioning.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/full.h"
#include "aten/ops/gt.h"
#include "aten/ops/linalg_eigvalsh.h"
#include "aten/ops/linalg_inv_ex.h"
#include "aten/ops/linalg_matrix_norm.h"
#include "aten/ops/linalg_svdvals.h"
#include "aten/ops/maximum.h"
#include "aten/ops/ne.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros.h"

namespace at::native {

namespace {

// Condition numbers

/// norm(A) norm(A^-1); infinite for singular matrices.
template <class Norm>
Tensor condition(const Tensor& self, const std::string& name, const Norm& norm) {
  check_is_square(self, name.c_str());
  if (self.numel() == 0)
    return at::zeros(batch_sizes(self), to_real(self.scalar_type()), std::nullopt, self.device());

  const auto [inverse, info] = at::linalg_inv_ex(self, false);
  const Tensor result = norm(self) * norm(inverse);

  return at::where(at::ne(info, Scalar(0)), Scalar(std::numeric_limits<double>::infinity()),
                   result);
}

// Ranks

/// A tolerance as a tensor of zero dimensions on the device of A.
Tensor number_like(const Tensor& A, double value) {
  return at::full({}, Scalar(value), to_real(A.scalar_type()), std::nullopt, A.device());
}

/// The default of rtol: epsilon times the larger of the matrix's two sizes.
double usual_tolerance(const Tensor& A) {
  const double epsilon = to_real(A.scalar_type()) == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  return epsilon * static_cast<double>(std::max(A.size(-2), A.size(-1)));
}

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_matrix_dtype(self, "linalg.cond");

  const double order = p.has_value() ? p->to_double() : 2.0;
  const double size = std::fabs(order);

  if (size == 2) {
    const Tensor values = at::linalg_svdvals(self, std::nullopt);
    // The condition number of an empty matrix is 0.
    if (values.size(-1) == 0) return at::sum(values, IntArrayRef(int64_t{-1}));

    const Tensor largest = at::amax(values, IntArrayRef(int64_t{-1}));
    const Tensor smallest = at::amin(values, IntArrayRef(int64_t{-1}));
    return order > 0 ? largest / smallest : smallest / largest;
  }

  return condition(self, c10::str("linalg.cond(ord=", *p, ")"), [&](const Tensor& A) {
    return at::linalg_matrix_norm(A, *p, IntArrayRef({-2, -1}), false, std::nullopt);
  });
}

Tensor linalg_cond_str(const Tensor& self, std::string_view p) {
  check_matrix_dtype(self, "linalg.cond");
  return condition(self, c10::str("linalg.cond(ord=", p, ")"), [&](const Tensor& A) {
    return at::linalg_matrix_norm(A, p, IntArrayRef({-2, -1}), false, std::nullopt);
  });
}

Tensor matrix_rank_tensors(const Tensor& input, const Tensor& atol, const Tensor& rtol,
                           bool hermitian) {
  const char* name = "torch.linalg.matrix_rank";
  check_is_matrix(input, name, "input");
  check_matrix_dtype(input, "linalg.matrix_rank");

  // A positive atol replaces the default of rtol.
  const Tensor A = input.detach();
  const Tensor absolute = atol.defined() ? atol.detach() : number_like(A, 0);
  Tensor relative = rtol.defined() ? rtol.detach() : number_like(A, usual_tolerance(A));
  if (!rtol.defined() && atol.defined())
    relative = at::where(at::gt(absolute, Scalar(0)), Scalar(0.0), relative);

  const Tensor values =
      hermitian ? at::abs(at::linalg_eigvalsh(A, "L")) : at::linalg_svdvals(A, std::nullopt);
  if (values.size(-1) == 0) return at::zeros(batch_sizes(A), kLong, std::nullopt, A.device());

  // The rank counts the values above max(atol, rtol * the largest value).
  const Tensor largest = at::amax(values, IntArrayRef(int64_t{-1}));
  const Tensor cutoff = at::maximum(absolute, relative * largest);
  return at::sum(at::gt(values, at::unsqueeze(cutoff, -1)), IntArrayRef(int64_t{-1}));
}

Tensor matrix_rank_floats(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  check_is_matrix(self, "torch.linalg.matrix_rank", "input");
  check_matrix_dtype(self, "linalg.matrix_rank");
  return matrix_rank_tensors(self, atol.has_value() ? number_like(self, *atol) : Tensor(),
                             rtol.has_value() ? number_like(self, *rtol) : Tensor(), hermitian);
}

Tensor matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return matrix_rank_floats(self, tol, 0.0, hermitian);
}

Tensor matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  check_is_matrix(input, "torch.linalg.matrix_rank", "input");
  check_matrix_dtype(input, "linalg.matrix_rank");
  return matrix_rank_tensors(input, tol, number_like(input, 0), hermitian);
}

}  // namespace at::native
