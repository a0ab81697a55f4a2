// Covariance and correlation of variables in rows, observed in columns.
#include <algorithm>

#include "aten/core/Warning.h"
#include "aten/native/declarations/reduction/Covariance.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/_numbers_as_complex.h"
#include "aten/ops/clamp.h"
#include "aten/ops/conj.h"
#include "aten/ops/cov.h"
#include "aten/ops/diag.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/lt.h"
#include "aten/ops/mm.h"
#include "aten/ops/ne.h"
#include "aten/ops/real.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sum.h"
#include "aten/ops/t.h"
#include "aten/ops/view_as_real.h"

namespace at::native {

namespace {

/// `name` is fweights, how often each observation was made, or aweights, how much it counts.
void check_weights(const char* name, const Tensor& weights, int64_t observations) {
  TORCH_CHECK(weights.dim() <= 1, "cov(): expected ", name,
              " to have one or fewer dimensions but got ", name, " with ", weights.dim(),
              " dimensions");

  const bool is_count = name[0] == 'f';
  TORCH_CHECK(is_count ? is_integral(weights.scalar_type(), false) : weights.is_floating_point(),
              "cov(): expected ", name, " to have ", is_count ? "integral" : "floating point",
              " dtype but got ", name, " with ", weights.scalar_type(), " dtype");
  TORCH_CHECK(weights.numel() == observations, "cov(): expected ", name,
              " to have the same numel as there are observations in the input but got ",
              weights.numel(), " != ", observations);
  TORCH_CHECK(!can_be_checked(weights) || holds(at::logical_not(at::lt(weights, Scalar(0)))),
              "cov(): ", name, " cannot be negative");
}

/// The product of the given weights; undefined without any.
Tensor joint_weights(const Tensor& fweights, const Tensor& aweights) {
  if (!fweights.defined() || !aweights.defined()) return fweights.defined() ? fweights : aweights;
  return fweights * aweights;
}

/// The divisor as numpy.cov defines it: sum(w) - correction * sum(w * aweights) / sum(w), which is
/// sum(w) - correction without aweights.
Tensor degrees_of_freedom(const Tensor& weights, const Tensor& aweights, const Tensor& total,
                          int64_t correction) {
  if (!aweights.defined() || correction == 0) return total - Scalar(correction);
  return total - Scalar(correction) * at::sum(weights * aweights) / total;
}

void warn_without_freedom() {
  warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
       "observations.");
}

/// The sum of each row.
Tensor row_sums(const Tensor& data) { return at::sum(data, IntArrayRef{1}, true); }

Tensor weighted_covariance(const Tensor& data, const Tensor& weights, const Tensor& aweights,
                           int64_t correction) {
  const Tensor total = at::sum(weights);
  TORCH_CHECK(!can_be_checked(total) || holds(at::ne(total, Scalar(0))),
              "cov(): weights sum to zero, can't be normalized");

  // A mean far from 0 is rounded; the mean of the differences from it is what it lacks.
  const Tensor shifted = data - row_sums(data * weights) / total;
  const Tensor centred = shifted - row_sums(shifted * weights) / total;

  Tensor freedom = degrees_of_freedom(weights, aweights, total, correction);
  if (has_elements(freedom) && freedom.item().to_double() <= 0) {
    warn_without_freedom();
    freedom = freedom * Scalar(0);
  }

  return at::mm(centred, at::conj(at::t(centred * weights))) / freedom;
}

Tensor plain_covariance(const Tensor& data, int64_t correction) {
  const int64_t observations = data.size(1);
  const Tensor shifted = data - row_sums(data) / Scalar(observations);
  const Tensor centred = shifted - row_sums(shifted) / Scalar(observations);

  const double freedom = static_cast<double>(observations) - static_cast<double>(correction);
  if (freedom <= 0) warn_without_freedom();

  return at::mm(centred, at::conj(at::t(centred))) / Scalar(std::max(0.0, freedom));
}

}  // namespace

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  TORCH_CHECK(self.dim() <= 2,
              "cov(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  TORCH_CHECK(self.scalar_type() != kBool, "cov(): bool dtype is not supported for input");

  const Tensor rows = self.dim() < 2 ? at::reshape(self, {1, -1}) : self;
  const Tensor data = is_integral(rows.scalar_type(), false) ? rows.to(default_dtype()) : rows;
  if (fweights.defined()) check_weights("fweights", fweights, data.size(1));
  if (aweights.defined()) check_weights("aweights", aweights, data.size(1));

  const Tensor weights = joint_weights(fweights, aweights);
  return at::squeeze(weights.defined() ? weighted_covariance(data, weights, aweights, correction)
                                       : plain_covariance(data, correction));
}

Tensor corrcoef(const Tensor& self) {
  TORCH_CHECK(self.dim() <= 2,
              "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");

  const Tensor covariance = at::cov(self);
  if (covariance.dim() == 0) return covariance / covariance;
  const Tensor variance = at::diag(covariance);
  const Tensor deviation = at::sqrt(variance.is_complex() ? at::real(variance) : variance);
  const Tensor coefficients = covariance / deviation.unsqueeze(1) / deviation.unsqueeze(0);

  // Rounding may exceed the range from -1 to 1.
  const auto clipped = [](const Tensor& part) { return at::clamp(part, Scalar(-1), Scalar(1)); };
  if (!coefficients.is_complex()) return clipped(coefficients);
  return at::_numbers_as_complex(clipped(at::view_as_real(coefficients)));
}

}  // namespace at::native
