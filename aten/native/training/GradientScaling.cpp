// Gradient scaling for mixed precision: unscaling gradients, and updating the scale.
#include <vector>

#include "aten/native/declarations/training/GradientScaling.h"
#include "aten/ops/_amp_unscale_loop.h"
#include "aten/ops/_amp_update_scale_loop.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"

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

  // The loop walks through memory, which copies make possible where there are gaps.
  std::vector<Tensor> dense;
  for (const Tensor& gradient : self) {
    if (gradient.is_meta()) continue;
    const bool has_gaps = !gradient.is_non_overlapping_and_dense();
    dense.push_back(has_gaps ? at::contiguous(gradient) : gradient);
  }
  if (dense.empty()) return;
  at::_amp_unscale_loop_(dense, found_inf, inv_scale);

  size_t next = 0;
  for (const Tensor& gradient : self) {
    if (gradient.is_meta()) continue;
    const Tensor& written = dense[next++];
    if (!written.is_same(gradient)) at::copy_(gradient, written);
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

  at::_amp_update_scale_loop_(self, growth_tracker, found_inf, scale_growth_factor,
                              scale_backoff_factor, growth_interval);
  return self;
}

}  // namespace at::native
