// Sums and means without nan, variances and standard deviations with means, extrema together,
// renorm: made of other reductions.
#include "aten/native/declarations/reduction/Sum.h"
#include "aten/ops/_nansum.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/detach.h"
#include "aten/ops/gt.h"
#include "aten/ops/isnan.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/mean.h"
#include "aten/ops/nansum.h"
#include "aten/ops/norm.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/std.h"
#include "aten/ops/sum.h"
#include "aten/ops/var.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

void check_moments(const char* op, const Tensor& self) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(), op,
              " only support floating point and complex dtypes, got ", self.scalar_type());
}

}  // namespace

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  TORCH_CHECK(!self.is_complex(), "nansum on CPU does not support complex inputs");
  if (is_integral(self.scalar_type(), true)) return at::sum(self, dim, keepdim, dtype);
  if (!dtype.has_value() || is_floating(*dtype)) return at::_nansum(self, dim, keepdim, dtype);
  return at::sum(at::where(at::isnan(self), Scalar(0), self), dim, keepdim, dtype);
}

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "nanmean(): expected input to have floating point or complex dtype but got ",
              self.scalar_type());
  TORCH_CHECK(!dtype.has_value() || is_floating(*dtype) || is_complex(*dtype),
              "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
              "point or complex dtype. Got: ",
              *dtype);
  const Tensor count = at::sum(at::logical_not(at::isnan(at::detach(self))), dim, keepdim);
  return at::nansum(self, dim, keepdim, dtype) / count;
}

Pair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim.has_value()) {
    const int64_t d = wrap_dim(*dim, self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, "aminmax: Expected reduction dim ",
                      d, " to have non-zero size.");
    return {at::amin(self, d, keepdim), at::amax(self, d, keepdim)};
  }
  TORCH_CHECK(self.numel() > 0, "aminmax(): cannot compute aminmax over an empty dimension as the "
                                "operation has no identity.");
  return {at::amin(self, {}, keepdim), at::amax(self, {}, keepdim)};
}

Pair var_mean_correction(const Tensor& self, OptionalIntArrayRef dim,
                         const std::optional<Scalar>& correction, bool keepdim) {
  check_moments("var_mean", self);
  return {at::var(self, dim, correction, keepdim), at::mean(self, dim, keepdim)};
}
Pair var_mean_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return var_mean_correction(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
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
  return std_mean_correction(self, dim, Scalar(unbiased ? 1 : 0), keepdim);
}
Pair std_mean(const Tensor& self, bool unbiased) {
  return std_mean_dim(self, std::nullopt, unbiased, false);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
              " dimensions");
  TORCH_CHECK(!p.is_complex(), "renorm: p must be real-valued");
  TORCH_CHECK(p.to_double() > 0, "renorm: non-positive-norm not supported, got p = ", p.str());
  TORCH_CHECK(!maxnorm.is_complex(), "renorm: maxnorm must be real-valued");
  TORCH_CHECK(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ",
              maxnorm.str());
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector others;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d) others.push_back(k);
  }
  const Tensor norm = at::norm(self.to(to_accumulate(self.scalar_type())), p, others, true);
  // Slices that are short enough stay as they are, bit by bit.
  const Tensor factor =
      at::where(at::gt(norm, maxnorm), maxnorm / (norm + Scalar(1e-7)), Scalar(1));
  return self * factor.to(to_real(self.scalar_type()));
}

}  // namespace at::native
