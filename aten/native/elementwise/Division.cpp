// Division with a rounding mode.
#include "aten/native/declarations/elementwise/Division.h"
#include "aten/ops/_div_rounded.h"
#include "aten/ops/div.h"

namespace at::native {

Tensor div_mode(const Tensor& self, const Tensor& other,
                std::optional<std::string_view> rounding_mode) {
  return rounding_mode.has_value() ? at::_div_rounded(self, other, *rounding_mode)
                                   : at::div(self, other);
}

Tensor div_number_mode(const Tensor& self, const Scalar& other,
                       std::optional<std::string_view> rounding_mode) {
  return div_mode(self, wrapped_scalar(other), rounding_mode);
}

Tensor div_of_number_mode(const Scalar& self, const Tensor& other,
                          std::optional<std::string_view> rounding_mode) {
  return div_mode(wrapped_scalar(self), other, rounding_mode);
}

}  // namespace at::native
