// Medians, k-th values and modes: shape rules, reductions of all elements and gradients.
#include <limits>

#include "aten/iteration/ReductionPlan.h"
#include "aten/native/declarations/reduction/OrderStatistics.h"
#include "aten/ops/eq.h"
#include "aten/ops/full.h"
#include "aten/ops/isnan.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/logical_or.h"
#include "aten/ops/median.h"
#include "aten/ops/nanmedian.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"

namespace at::native {

namespace {

using Specs = std::tuple<TensorSpec, TensorSpec>;

Specs chosen_shape(const char* op, const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, op, "(): Expected reduction dim ", d,
                    " to have non-zero size.");
  const DimVector sizes = reduced_sizes(self, IntArrayRef(&d, 1), keepdim);
  return {{sizes, self.scalar_type(), self.device()}, {sizes, kLong, self.device()}};
}

void check_has_ranks(const char* op, const Tensor& self) {
  const bool has_order = !self.is_complex() && self.scalar_type() != kBool;
  TORCH_CHECK_NOT_IMPLEMENTED(has_order, "\"", op, "\" not implemented for '", self.scalar_type(),
                              "'");
}

/// The median of zero elements is NaN; integer dtypes return their lowest value or 0 instead.
Tensor median_of_nothing(const Tensor& self) {
  return at::full({}, Scalar(std::numeric_limits<double>::quiet_NaN()), kDouble, std::nullopt,
                  self.device())
      .to(self.scalar_type());
}

}  // namespace

Specs median_shape(const Tensor& self, int64_t dim, bool keepdim) {
  check_has_ranks("median", self);
  return chosen_shape("median", self, dim, keepdim);
}

Specs mode_shape(const Tensor& self, int64_t dim, bool keepdim) {
  return chosen_shape("mode", self, dim, keepdim);
}

Specs kthvalue_shape(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  check_has_ranks("kthvalue", self);
  const Specs specs = chosen_shape("kthvalue", self, dim, keepdim);

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  TORCH_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ", d,
              ": k is ", k, ", the size ", size);
  return specs;
}

Tensor median_all(const Tensor& self) {
  check_has_ranks("median", self);
  if (self.numel() == 0) return median_of_nothing(self);
  return std::get<0>(at::median(at::reshape(self, {-1}), 0));
}

Tensor nanmedian_all(const Tensor& self) {
  check_has_ranks("nanmedian", self);
  if (self.numel() == 0) return median_of_nothing(self);
  return std::get<0>(at::nanmedian(at::reshape(self, {-1}), 0));
}

Tensor _evenly_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  // All elements equal to the result share its gradient, and all nan that of a nan.
  const Tensor chosen =
      at::logical_or(at::eq(self, result), at::logical_and(at::isnan(self), at::isnan(result)));
  return grad / at::sum(chosen) * chosen;
}

}  // namespace at::native
