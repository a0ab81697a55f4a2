// clamp, clamp_min and clamp_max with bounds given as numbers or tensors, and their gradient.
#include <vector>

#include "aten/dispatch/Outputs.h"
#include "aten/native/declarations/elementwise/Clamp.h"
#include "aten/ops/_clamp.h"
#include "aten/ops/_clamp_max_tensor.h"
#include "aten/ops/_clamp_min_max.h"
#include "aten/ops/_clamp_min_tensor.h"
#include "aten/ops/clamp.h"
#include "aten/ops/copy.h"
#include "aten/ops/ge.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

/// The common dtype of self and the bounds, of which at least one must be given.
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

Tensor _clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                       const std::optional<Scalar>& max) {
  // The gradient passes where self is within the bounds.
  Tensor inside;
  if (min.has_value()) inside = at::ge(self, *min);

  if (max.has_value()) {
    const Tensor below = at::le(self, *max);
    inside = inside.defined() ? at::logical_and(inside, below) : below;
  }

  return inside.defined() ? at::where(inside, grad, Scalar(0)) : grad;
}

Tensor clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max) {
  TORCH_CHECK(min.defined() || max.defined(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "clamp is not supported for complex types");

  if (!max.defined()) return at::_clamp_min_tensor(self, min);
  if (!min.defined()) return at::_clamp_max_tensor(self, max);
  return at::_clamp_min_max(self, min, max);
}

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

}  // namespace at::native
