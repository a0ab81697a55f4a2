// Quantiles: interpolated elements of sorted lanes, differentiable in the input and in q.
#include "aten/native/declarations/reduction/Quantile.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/ceil.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/detach.h"
#include "aten/ops/expand.h"
#include "aten/ops/floor.h"
#include "aten/ops/full_like.h"
#include "aten/ops/gather.h"
#include "aten/ops/ge.h"
#include "aten/ops/isnan.h"
#include "aten/ops/le.h"
#include "aten/ops/lerp.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/movedim.h"
#include "aten/ops/narrow.h"
#include "aten/ops/reshape.h"
#include "aten/ops/round.h"
#include "aten/ops/scalar_tensor.h"
#include "aten/ops/sort.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sum.h"
#include "aten/ops/transpose.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

enum class Interpolation { Linear, Lower, Higher, Midpoint, Nearest };

Interpolation interpolation_of(std::string_view name) {
  if (name == "linear") return Interpolation::Linear;
  if (name == "lower") return Interpolation::Lower;
  if (name == "higher") return Interpolation::Higher;
  if (name == "midpoint") return Interpolation::Midpoint;
  TORCH_CHECK(name == "nearest",
              "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
              "but got ",
              name);
  return Interpolation::Nearest;
}

void check_quantile(const Tensor& self, const Tensor& q) {
  TORCH_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  TORCH_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor, got ", q.dim(),
              " dimensions");
  TORCH_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
              "quantile() input tensor must be either float or double dtype, got ",
              self.scalar_type());
  TORCH_CHECK(self.scalar_type() == q.scalar_type(),
              "quantile() q tensor must be same dtype as the input tensor, got ", q.scalar_type(),
              " and ", self.scalar_type());
  TORCH_CHECK(self.device() == q.device(),
              "quantile() q tensor must be on the same device as the input tensor, got ",
              q.device(), " and ", self.device());

  if (!can_be_checked(q)) return;
  const Tensor inside =
      at::logical_and(at::ge(at::detach(q), Scalar(0)), at::le(at::detach(q), Scalar(1)));
  TORCH_CHECK(holds(inside), "quantile() q values must be in the range [0, 1]");
}

/// Positions of the quantiles, with fractions, in lanes that are sorted along the last dimension
/// with nan last: (..., number of q).
Tensor ranks_of(const Tensor& sorted, const Tensor& q, bool ignore_nan) {
  const int64_t last = sorted.size(-1) - 1;
  const Tensor values = at::detach(sorted);

  if (ignore_nan) {
    const Tensor numbers = at::sum(at::logical_not(at::isnan(values)), IntArrayRef{-1}, true);
    return at::clamp_min(q * (numbers - Scalar(1)).to(q.scalar_type()), Scalar(0));
  }

  // nan is sorted last: if the last element is nan, it is the result.
  const Tensor has_nan = at::isnan(at::narrow(values, -1, last, 1));
  return at::where(has_nan, Scalar(static_cast<double>(last)), q * Scalar(last));
}

/// The elements of sorted lanes at fractional positions.
Tensor at_ranks(const Tensor& sorted, const Tensor& ranks, Interpolation interpolation) {
  const auto elements = [&](const Tensor& positions) {
    return at::gather(sorted, -1, at::detach(positions).to(kLong));
  };

  switch (interpolation) {
    case Interpolation::Lower: return elements(at::floor(ranks));
    case Interpolation::Higher: return elements(at::ceil(ranks));
    case Interpolation::Nearest: return elements(at::round(ranks));
    default: break;
  }

  const Tensor below = at::floor(ranks);
  const Tensor weight =
      interpolation == Interpolation::Midpoint ? at::full_like(ranks, Scalar(0.5)) : ranks - below;
  return at::lerp(elements(below), elements(at::ceil(ranks)), weight);
}

Tensor quantiles(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool ignore_nan) {
  check_quantile(self, q);
  const Interpolation mode = interpolation_of(interpolation);
  const int64_t d = dim.has_value() ? wrap_dim(*dim, self.dim()) : 0;

  // The lanes become the last dimension; the dimension of size 1 that takes their place is the one
  // that keepdim keeps.
  const Tensor lanes =
      dim.has_value() ? at::transpose(self.unsqueeze(-1), d, -1) : at::reshape(self, {-1});
  const Tensor sorted = std::get<0>(at::sort(lanes));
  Tensor result = at_ranks(sorted, ranks_of(sorted, at::reshape(q, {-1}), ignore_nan), mode);

  if (!dim.has_value() && keepdim) {
    DimVector sizes(self.dim(), 1);
    sizes.push_back(result.size(-1));
    result = at::reshape(result, sizes);
  }

  // The results for several q become the first dimension.
  result = q.dim() == 0 ? at::squeeze(result, -1) : at::movedim(result, -1, 0);
  if (!dim.has_value() || keepdim || self.dim() == 0) return result;
  return at::squeeze(result, d + q.dim());
}

Tensor as_quantile(const Tensor& self, double q) {
  TORCH_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got ", q);
  return at::scalar_tensor(Scalar(q), self.scalar_type(), std::nullopt, self.device());
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, false);
}

Tensor quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                       std::string_view interpolation) {
  return quantiles(self, as_quantile(self, q), dim, keepdim, interpolation, false);
}

Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, true);
}

Tensor nanquantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                          std::string_view interpolation) {
  return quantiles(self, as_quantile(self, q), dim, keepdim, interpolation, true);
}

}  // namespace at::native
