// Special functions composed of other operators, and the error for gradients not implemented.
#include <cmath>

#include "aten/native/declarations/elementwise/Special.h"
#include "aten/ops/_logit.h"
#include "aten/ops/_logit_limited.h"
#include "aten/ops/arange.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/lgamma.h"
#include "aten/ops/polygamma.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return eps.has_value() ? at::_logit_limited(self, *eps) : at::_logit(self);
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  TORCH_CHECK(self.scalar_type() != kBool, "The input tensor may not be a boolean tensor.");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "\"mvlgamma\" not implemented for '",
                              self.scalar_type(), "'");

  // p (p - 1) / 4 log(pi) plus the sum of lgamma(x - j / 2) over 0 <= j < p
  const ScalarType type = self.is_floating_point() ? self.scalar_type() : default_dtype();
  const double constant =
      0.25 * static_cast<double>(p) * static_cast<double>(p - 1) * std::log(3.14159265358979323846);
  const Tensor halves = at::arange(Scalar(0), Scalar(-0.5 * static_cast<double>(p)), Scalar(-0.5),
                                   type, std::nullopt, self.device());

  constexpr int64_t kLast[] = {-1};
  return at::sum(at::lgamma(at::unsqueeze(self.to(type), -1) + halves), IntArrayRef(kLast)) +
         Scalar(constant);
}

Tensor polygamma_inplace(const Tensor& self, int64_t n) {
  TORCH_CHECK(self.is_floating_point(),
              "result type Float can't be cast to the desired output type ", self.scalar_type());

  // The gradient needs the old values.
  const Tensor input = self.requires_grad() ? at::clone(self) : self;
  return at::copy_(self, at::polygamma(n, input));
}

Tensor _refuse_gradient(const Tensor&, std::string_view operation, std::string_view argument) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "the derivative for '", operation, ": ", argument,
                              "' is not implemented.");
  return {};
}

}  // namespace at::native
