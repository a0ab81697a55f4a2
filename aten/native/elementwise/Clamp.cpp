// Limits given as numbers or tensors, signs, and rounding to decimals.
#include <cmath>
#include <cstdlib>

#include "aten/dispatch/Outputs.h"
#include "aten/native/declarations/elementwise/Clamp.h"
#include "aten/ops/_clamp.h"
#include "aten/ops/_clamp_max_tensor.h"
#include "aten/ops/_clamp_min_max.h"
#include "aten/ops/_clamp_min_tensor.h"
#include "aten/ops/_sgn_complex.h"
#include "aten/ops/abs.h"
#include "aten/ops/clamp.h"
#include "aten/ops/conj.h"
#include "aten/ops/copy.h"
#include "aten/ops/eq.h"
#include "aten/ops/ge.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/real.h"
#include "aten/ops/round.h"
#include "aten/ops/sign.h"
#include "aten/ops/where.h"

namespace at::native {

Tensor _clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                       const std::optional<Scalar>& max) {
  Tensor inside;
  if (min.has_value()) inside = at::ge(self, *min);
  if (max.has_value()) {
    const Tensor below = at::le(self, *max);
    inside = inside.defined() ? at::logical_and(inside, below) : below;
  }
  return inside.defined() ? at::where(inside, grad, Scalar(0)) : grad;
}

Tensor sgn(const Tensor& self) {
  return self.is_complex() ? at::_sgn_complex(self) : at::sign(self);
}

Tensor _sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  // x / |x|: the part of grad along the direction goes, the rest scales with 1 / |x|; 0 stays at 0.
  const Tensor along = result * at::real(at::conj(result) * grad);
  return at::where(at::eq(self, Scalar(0)), Scalar(0), (grad - along) / at::abs(self));
}

Tensor clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max) {
  TORCH_CHECK(min.defined() || max.defined(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");
  if (!max.defined()) return at::_clamp_min_tensor(self, min);
  if (!min.defined()) return at::_clamp_max_tensor(self, max);
  return at::_clamp_min_max(self, min, max);
}

namespace {

/// The common dtype of clamp, whose bounds must be there.
ScalarType clamp_dtype(const Tensor& self, const std::optional<Scalar>& min,
                       const std::optional<Scalar>& max) {
  TORCH_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");
  // A bound of a higher kind raises the dtype, as in arithmetic with a number.
  std::vector<Tensor> operands{self};
  if (min.has_value()) operands.push_back(wrapped_scalar(*min));
  if (max.has_value()) operands.push_back(wrapped_scalar(*max));
  return result_type(operands);
}

}  // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min,
             const std::optional<Scalar>& max) {
  return at::_clamp(self.to(clamp_dtype(self, min, max)), min, max);
}

void clamp_(const Tensor& self, const std::optional<Scalar>& min,
            const std::optional<Scalar>& max) {
  const ScalarType dtype = clamp_dtype(self, min, max);
  check_inplace_result("clamp_", self, self.sizes(), dtype);
  if (dtype == self.scalar_type()) {
    at::_clamp_(self, min, max);
  } else {
    at::copy_(self, at::_clamp(self.to(dtype), min, max));
  }
}

Tensor clamp_min(const Tensor& self, const Scalar& min) {
  return at::clamp(self, min, std::nullopt);
}
void clamp_min_(const Tensor& self, const Scalar& min) { at::clamp_(self, min, std::nullopt); }

Tensor clamp_max(const Tensor& self, const Scalar& max) {
  return at::clamp(self, std::nullopt, max);
}
void clamp_max_(const Tensor& self, const Scalar& max) { at::clamp_(self, std::nullopt, max); }

Tensor clamp_min_tensor(const Tensor& self, const Tensor& min) {
  return at::clamp(self, min, Tensor());
}

Tensor clamp_max_tensor(const Tensor& self, const Tensor& max) {
  return at::clamp(self, Tensor(), max);
}

Tensor positive(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor round_decimals(const Tensor& self, int64_t decimals) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(),
                              "\"round\" with decimals is not implemented for '",
                              self.scalar_type(), "'");
  if (decimals == 0) return at::round(self);
  if (is_reduced_floating(self.scalar_type()))
    return round_decimals(self.to(kFloat), decimals).to(self.scalar_type());
  const Scalar power(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  return decimals > 0 ? at::round(self * power) / power : at::round(self / power) * power;
}

}  // namespace at::native
