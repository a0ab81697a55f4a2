// Variances, norms and logsumexp: reductions that are made of others and differentiable through
// them.
#include <cmath>
#include <limits>

#include "aten/core/Warning.h"
#include "aten/native/declarations/reduction/Variance.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/detach.h"
#include "aten/ops/eq.h"
#include "aten/ops/exp.h"
#include "aten/ops/isinf.h"
#include "aten/ops/log.h"
#include "aten/ops/mean.h"
#include "aten/ops/ne.h"
#include "aten/ops/norm.h"
#include "aten/ops/pow.h"
#include "aten/ops/real.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

/// float16 and bfloat16 in float: squares of them overflow, and every step would round.
Tensor widened(const Tensor& self) { return self.to(to_accumulate(self.scalar_type())); }

int64_t reduced_count(const Tensor& self, OptionalIntArrayRef dim) {
  int64_t count = 1;
  if (!dim.has_value() || dim->empty()) return self.numel();
  for (const int64_t d : *dim) count *= self.dim() == 0 ? 1 : self.sizes()[wrap_dim(d, self.dim())];
  return count;
}

/// root(x) with a derivative of 0, not infinity, at x = 0: there x is a sum of terms whose
/// derivatives vanish.
template <typename Root>
Tensor root_flat_at_zero(const Tensor& x, const Root& root) {
  if (!x.requires_grad()) return root(x);
  const Tensor zero = at::eq(x, Scalar(0));
  return at::where(zero, x, root(at::where(zero, Scalar(1), x)));
}

Tensor variance(const Tensor& self, OptionalIntArrayRef dim, double correction, bool keepdim) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "std and var only support floating point and complex dtypes");
  const Tensor values = widened(self);
  const Tensor centred = values - at::mean(values, dim, true);
  const Tensor size = centred.is_complex() ? at::abs(centred) : centred;
  const double freedom = std::max(0.0, static_cast<double>(reduced_count(self, dim)) - correction);
  if (freedom <= 0)
    warn("std() and var(): degrees of freedom is <= 0. Correction should be strictly less than the "
         "reduction factor (input numel divided "
         "by output numel).");
  return at::sum(size * size, dim, keepdim) / Scalar(freedom);
}

Tensor standard_deviation(const Tensor& self, OptionalIntArrayRef dim, double correction,
                          bool keepdim) {
  const Tensor root = root_flat_at_zero(variance(self, dim, correction, keepdim),
                                        [](const Tensor& x) { return at::sqrt(x); });
  return root.to(to_real(self.scalar_type()));
}

double correction_or_one(const std::optional<Scalar>& correction) {
  return correction.has_value() ? correction->to_double() : 1.0;
}

Tensor narrowed_variance(const Tensor& self, OptionalIntArrayRef dim, double correction,
                         bool keepdim) {
  return variance(self, dim, correction, keepdim).to(to_real(self.scalar_type()));
}

}  // namespace

Tensor var_correction(const Tensor& self, OptionalIntArrayRef dim,
                      const std::optional<Scalar>& correction, bool keepdim) {
  return narrowed_variance(self, dim, correction_or_one(correction), keepdim);
}
Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return narrowed_variance(self, dim, unbiased ? 1 : 0, keepdim);
}
Tensor var_unbiased(const Tensor& self, bool unbiased) {
  return narrowed_variance(self, std::nullopt, unbiased ? 1 : 0, false);
}

Tensor std_correction(const Tensor& self, OptionalIntArrayRef dim,
                      const std::optional<Scalar>& correction, bool keepdim) {
  return standard_deviation(self, dim, correction_or_one(correction), keepdim);
}
Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return standard_deviation(self, dim, unbiased ? 1 : 0, keepdim);
}
Tensor std_unbiased(const Tensor& self, bool unbiased) {
  return standard_deviation(self, std::nullopt, unbiased ? 1 : 0, false);
}

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const Tensor values = is_integral(self.scalar_type(), true) ? self.to(default_dtype()) : self;
  if (values.numel() == 0) return at::log(at::sum(at::exp(values), dim, keepdim));
  // The shift cancels, so it takes no part in the derivative. An infinite one would give inf - inf.
  const Tensor constant = at::detach(values);
  const Tensor largest = at::amax(values.is_complex() ? at::real(constant) : constant, dim, true);
  const Tensor shift = at::where(at::isinf(largest), Scalar(0), largest);
  const Tensor sum = at::log(at::sum(at::exp(values - shift), dim, keepdim));
  return sum + (keepdim ? shift : at::reshape(shift, sum.sizes()));
}

namespace {

void check_norm_exists(const Tensor& self, double p, IntArrayRef dim) {
  if (self.numel() > 0 || (p >= 0 && !std::isinf(p))) return;
  TORCH_CHECK(!dim.empty(), "norm: cannot compute the ", p,
              " norm on an empty tensor because the operation does not have an identity");
  for (const int64_t d : dim) {
    TORCH_CHECK(self.size(d) != 0, "norm: cannot compute the ", p, " norm on the dimension ", d,
                " because this dimension is empty and the operation does not have an identity");
  }
}

/// |x|^p, with derivative 0 at x = 0, where powers below 1 have none.
Tensor power_of_size(const Tensor& size, double p) {
  if (p >= 1 || !size.requires_grad()) return at::pow(size, Scalar(p));
  const Tensor zero = at::eq(size, Scalar(0));
  const double at_zero = p > 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return at::where(zero, Scalar(at_zero), at::pow(at::where(zero, Scalar(1), size), Scalar(p)));
}

Tensor norm_of(const Tensor& values, double p, IntArrayRef dim, bool keepdim) {
  if (p == 2 && !values.is_complex()) {
    return root_flat_at_zero(at::sum(values * values, dim, keepdim),
                             [](const Tensor& x) { return at::sqrt(x); });
  }
  const Tensor size = at::abs(values);
  if (p == 0) return at::sum(at::where(at::ne(size, Scalar(0)), Scalar(1), size), dim, keepdim);
  if (p == 1) return at::sum(size, dim, keepdim);
  if (std::isinf(p)) return p > 0 ? at::amax(size, dim, keepdim) : at::amin(size, dim, keepdim);
  const Tensor sum = at::sum(power_of_size(size, p), dim, keepdim);
  const auto root = [p](const Tensor& x) { return at::pow(x, Scalar(1 / p)); };
  return p > 0 ? root_flat_at_zero(sum, root) : root(sum);
}

}  // namespace

Tensor norm_dim(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "norm: Expected a floating point or complex tensor as input. Got ",
              self.scalar_type());
  const double order = p.has_value() ? p->to_double() : 2.0;
  check_norm_exists(self, order, dim);
  return norm_of(widened(self), order, dim, keepdim).to(to_real(self.scalar_type()));
}

namespace {
Tensor converted(const Tensor& self, ScalarType dtype) {
  TORCH_CHECK(is_floating(dtype) || is_complex(dtype),
              "norm: dtype should be floating point or complex, but got ", dtype);
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "norm: Expected a floating point or complex tensor as input. Got ",
              self.scalar_type());
  TORCH_CHECK(is_complex(dtype) == self.is_complex(), "norm: dtype should be ",
              self.is_complex() ? "complex" : "real", " for such inputs, but got ", dtype);
  TORCH_CHECK(promote_types(self.scalar_type(), dtype) == dtype, "norm: the dtype of the input (",
              self.scalar_type(),
              ") should be convertible without narrowing to the specified dtype (", dtype, ")");
  return self.to(dtype);
}
}  // namespace

Tensor norm_dim_dtype(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                      bool keepdim, ScalarType dtype) {
  return at::norm(converted(self, dtype), p, dim, keepdim);
}

Tensor norm_all_dtype(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return at::norm(converted(self, dtype), p, IntArrayRef(), false);
}

Tensor norm_all(const Tensor& self, const Scalar& p) {
  return at::norm(self, p, IntArrayRef(), false);
}

}  // namespace at::native
