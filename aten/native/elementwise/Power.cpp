// pow by a number and its gradients, and float_power.
#include "aten/native/declarations/elementwise/Power.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/copy.h"
#include "aten/ops/eq.h"
#include "aten/ops/ge.h"
#include "aten/ops/item.h"
#include "aten/ops/log.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/pow.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros_like.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

/// The value of an exponent that is a single constant on the CPU.
std::optional<Scalar> known_number(const Tensor& exponent) {
  if (exponent.dim() != 0 || !exponent.is_cpu() || exponent.requires_grad()) return std::nullopt;
  if (!has_elements(exponent)) return std::nullopt;
  return at::item(exponent);
}

Scalar minus_one(const Scalar& value) {
  if (value.is_complex()) return Scalar(value.to_complex_double() - c10::complex<double>(1));
  // The lowest integer has no predecessor, which makes no difference in floating point.
  const bool exact = value.is_integral(true) && value.to_double() > -0x1p63;
  return exact ? Scalar(value.to_long() - 1) : Scalar(value.to_double() - 1);
}

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

/// float_power always computes in double precision.
ScalarType float_power_type(bool is_complex) { return is_complex ? kComplexDouble : kDouble; }

/// A copy of the values that the gradient of an in-place operation needs.
Tensor old_values(const Tensor& self) { return self.requires_grad() ? at::clone(self) : self; }

/// Writes `power` to self, whose dtype must be that of the result: nothing is rounded.
Tensor replace_by_power(const Tensor& self, const Tensor& power) {
  TORCH_CHECK(self.scalar_type() == power.scalar_type(),
              "the base given to float_power_ has dtype ", self.scalar_type(),
              " but the operation's result requires dtype ", power.scalar_type());
  return at::copy_(self, power);
}

}  // namespace

Tensor pow_number(const Tensor& self, const Scalar& exponent) {
  if (is_integral(self.scalar_type(), false) && exponent.is_integral(false)) {
    TORCH_CHECK(exponent.to_long() >= 0, "Integers to negative integer powers are not allowed.");
    c10::check_representable(exponent, self.scalar_type());
  }
  return at::pow(self, wrapped_scalar(exponent));
}

Tensor _pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  // x^n has the derivative n x^(n - 1).
  if (const std::optional<Scalar> number = known_number(exponent)) {
    if (number->equal(0)) return at::zeros_like(grad);
    if (number->equal(1)) return grad;
    return grad * conjugate(at::pow(self, minus_one(*number)) * *number);
  }

  // An exponent of 0 gives a constant, even at 0, where the formula would give 0 * inf.
  const Tensor derivative = grad * conjugate(exponent * at::pow(self, exponent - Scalar(1)));
  return at::where(at::eq(exponent, Scalar(0)), Scalar(0), derivative);
}

Tensor _pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                              const Tensor& result) {
  // x^y has the derivative x^y log(x) by y. For x = 0 and y >= 0 the gradient is 0, because 0^y is
  // 0 for all y > 0; the formula would give 0 * -inf.
  const Tensor zero = at::eq(self, Scalar(0));
  const Tensor flat =
      exponent.is_complex() ? zero : at::logical_and(zero, at::ge(exponent, Scalar(0)));

  // The copy of a number is a tensor of the result's dtype, and so is its logarithm.
  const ScalarType type = result.scalar_type();
  const Tensor base = self.is_wrapped_number() ? at::clone(self).to(type) : self.to(type);
  return grad * at::where(flat, Scalar(0), conjugate(result * at::log(base)));
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType type = float_power_type(self.is_complex() || exponent.is_complex());
  return at::pow(self.to(type), exponent.to(type));
}

Tensor float_power_of_number(const Scalar& self, const Tensor& exponent) {
  return at::pow(self, exponent.to(float_power_type(self.is_complex() || exponent.is_complex())));
}

Tensor float_power_by_number(const Tensor& self, const Scalar& exponent) {
  return at::pow(self.to(float_power_type(self.is_complex() || exponent.is_complex())), exponent);
}

Tensor float_power_inplace(const Tensor& self, const Tensor& exponent) {
  return replace_by_power(self, float_power(old_values(self), exponent));
}

Tensor float_power_by_number_inplace(const Tensor& self, const Scalar& exponent) {
  return replace_by_power(self, float_power_by_number(old_values(self), exponent));
}

}  // namespace at::native
