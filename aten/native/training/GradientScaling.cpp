// Gradient scaling for mixed precision: unscaling gradients, and updating the scale.
#include <cmath>
#include <tuple>

#include "aten/native/declarations/training/GradientScaling.h"
#include "aten/ops/aminmax.h"
#include "aten/ops/copy.h"
#include "aten/ops/fill.h"
#include "aten/ops/mul.h"

namespace at::native {

namespace {

void check_one_number(const char* op, const char* name, const Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1, op, ": ", name, " must have one element, but has sizes ",
              tensor.sizes());
}

void check_one_float(const char* op, const char* name, const Tensor& tensor) {
  check_one_number(op, name, tensor);
  TORCH_CHECK(tensor.scalar_type() == kFloat, op, ": ", name,
              " must be a float tensor, but has dtype ", tensor.scalar_type());
}

/// Looks only at the smallest and the largest element: both are NaN if any element is.
bool is_finite(const Tensor& gradient) {
  if (gradient.numel() == 0) return true;
  const auto [low, high] = at::aminmax(gradient);
  return std::isfinite(low.item().to_double()) && std::isfinite(high.item().to_double());
}

}  // namespace

void amp_unscale_(TensorList self, const Tensor& found_inf, const Tensor& inv_scale) {
  const char* op = "_amp_foreach_non_finite_check_and_unscale_";
  check_one_float(op, "found_inf", found_inf);
  check_one_float(op, "inv_scale", inv_scale);

  for (size_t i = 0; i < self.size(); ++i) {
    TORCH_CHECK_NOT_IMPLEMENTED(c10::is_floating(self[i].scalar_type()), op,
                                " is not implemented for '", self[i].scalar_type(),
                                "', the dtype of self[", i, "]");
  }

  if (self.empty() || found_inf.is_meta() || inv_scale.is_meta()) return;

  // Gradients are unscaled even where they overflowed; found_inf tells the optimizer to skip the
  // step.
  const double factor = inv_scale.item().to_double();
  for (const Tensor& gradient : self) {
    if (gradient.is_meta()) continue;
    if (!is_finite(gradient)) at::fill_(found_inf, Scalar(1.0));
    if (factor != 1.0) at::mul_(gradient, Scalar(factor));
  }
}

Tensor amp_update_scale_(const Tensor& self, const Tensor& growth_tracker, const Tensor& found_inf,
                         double scale_growth_factor, double scale_backoff_factor,
                         int64_t growth_interval) {
  const char* op = "_amp_update_scale_";
  check_one_float(op, "self", self);
  check_one_number(op, "growth_tracker", growth_tracker);
  TORCH_CHECK(growth_tracker.scalar_type() == kInt, op,
              ": growth_tracker must be an int tensor, but has dtype ",
              growth_tracker.scalar_type());
  check_one_float(op, "found_inf", found_inf);

  if (self.is_meta() || growth_tracker.is_meta() || found_inf.is_meta()) return self;

  const float scale = static_cast<float>(self.item().to_double());

  // An overflow shrinks the scale; `growth_interval` steps in a row without one let it grow.
  int64_t successes = 0;
  if (found_inf.item().to_double() != 0) {
    at::fill_(self, Scalar(static_cast<double>(static_cast<float>(scale * scale_backoff_factor))));
  } else {
    successes = growth_tracker.item().to_long() + 1;
    if (successes == growth_interval) {
      const float larger = static_cast<float>(scale * scale_growth_factor);
      if (std::isfinite(larger)) at::fill_(self, Scalar(static_cast<double>(larger)));
      successes = 0;
    }
  }

  at::fill_(growth_tracker, Scalar(successes));
  return self;
}

}  // namespace at::native
