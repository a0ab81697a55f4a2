// Variances and standard deviations, differentiable through the reductions they consist of.
#include <algorithm>

#include "aten/core/Warning.h"
#include "aten/native/declarations/reduction/Variance.h"
#include "aten/native/shared/FlatRoot.h"
#include "aten/native/shared/Freedom.h"
#include "aten/ops/conj.h"
#include "aten/ops/mean.h"
#include "aten/ops/real.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/std.h"
#include "aten/ops/std_mean.h"
#include "aten/ops/sum.h"
#include "aten/ops/var.h"
#include "aten/ops/var_mean.h"

namespace at::native {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

void check_moments(const char* op, const Tensor& self) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(), op,
              " only support floating point and complex dtypes, got ", self.scalar_type());
}

/// Converts float16 and bfloat16 to float: their squares overflow, and every step would round.
Tensor widened(const Tensor& self) { return self.to(to_accumulate(self.scalar_type())); }

/// The number of elements that one result reduces.
int64_t reduced_count(const Tensor& self, OptionalIntArrayRef dim) {
  int64_t count = 1;
  if (!dim.has_value() || dim->empty()) return self.numel();
  for (const int64_t d : *dim) count *= self.dim() == 0 ? 1 : self.sizes()[wrap_dim(d, self.dim())];
  return count;
}

Tensor variance(const Tensor& self, OptionalIntArrayRef dim,
                const std::optional<Scalar>& correction, bool keepdim) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "std and var only support floating point and complex dtypes");

  const Tensor values = widened(self);
  const Tensor centred = values - at::mean(values, dim, true);
  // Not the square of an absolute value, which has no second derivative at 0.
  const Tensor squares =
      centred.is_complex() ? at::real(centred * at::conj(centred)) : centred * centred;

  const double freedom = degrees_of_freedom(self, dim, correction);
  return at::sum(squares, dim, keepdim) / Scalar(freedom);
}

}  // namespace

double degrees_of_freedom(const Tensor& self, OptionalIntArrayRef dim,
                          const std::optional<Scalar>& correction) {
  const double subtracted = correction.has_value() ? correction->to_double() : 1.0;
  const double freedom = std::max(0.0, static_cast<double>(reduced_count(self, dim)) - subtracted);
  if (freedom <= 0) {
    warn("std() and var(): degrees of freedom is <= 0. Correction should be strictly less than the "
         "reduction factor (input numel divided "
         "by output numel).");
  }
  return freedom;
}

Pair var_mean_correction(const Tensor& self, OptionalIntArrayRef dim,
                         const std::optional<Scalar>& correction, bool keepdim) {
  check_moments("var_mean", self);
  return {at::var(self, dim, correction, keepdim), at::mean(self, dim, keepdim)};
}

Pair var_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var_mean(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

Pair var_mean(const Tensor& self, bool unbiased) {
  return var_mean_dim(self, std::nullopt, unbiased, false);
}

Pair std_mean_correction(const Tensor& self, OptionalIntArrayRef dim,
                         const std::optional<Scalar>& correction, bool keepdim) {
  check_moments("std_mean", self);
  return {at::std(self, dim, correction, keepdim), at::mean(self, dim, keepdim)};
}

Pair std_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std_mean(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

Pair std_mean(const Tensor& self, bool unbiased) {
  return std_mean_dim(self, std::nullopt, unbiased, false);
}

Tensor var_correction(const Tensor& self, OptionalIntArrayRef dim,
                      const std::optional<Scalar>& correction, bool keepdim) {
  return variance(self, dim, correction, keepdim).to(to_real(self.scalar_type()));
}

Tensor var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::var(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

Tensor var_unbiased(const Tensor& self, bool unbiased) {
  return at::var(self, std::nullopt, Scalar(unbiased ? 1 : 0), false);
}

Tensor std_correction(const Tensor& self, OptionalIntArrayRef dim,
                      const std::optional<Scalar>& correction, bool keepdim) {
  const Tensor root = root_flat_at_zero(variance(self, dim, correction, keepdim),
                                        [](const Tensor& x) { return at::sqrt(x); });
  return root.to(to_real(self.scalar_type()));
}

Tensor std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return at::std(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}

Tensor std_unbiased(const Tensor& self, bool unbiased) {
  return at::std(self, std::nullopt, Scalar(unbiased ? 1 : 0), false);
}

}  // namespace at::native
