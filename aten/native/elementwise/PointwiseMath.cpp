// Functions of one tensor that are composed of other operators: positive, round to decimals, frexp.
#include <cmath>
#include <cstdlib>

#include "aten/native/declarations/elementwise/PointwiseMath.h"
#include "aten/ops/_frexp_exponent.h"
#include "aten/ops/_frexp_mantissa.h"
#include "aten/ops/round.h"

namespace at::native {

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

  const Scalar power(std::pow(10.0, std::abs(static_cast<double>(decimals))));
  return decimals > 0 ? at::round(self * power) / power : at::round(self / power) * power;
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes");
  return {at::_frexp_mantissa(self), at::_frexp_exponent(self).to(kInt)};
}

}  // namespace at::native
