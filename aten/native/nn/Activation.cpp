// Activations that are chosen by an argument, and dropout.
#include "aten/native/declarations/nn/Activation.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/_gelu_tanh.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/mul.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

Tensor gelu(const Tensor& self, std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh, got '", approximate, "'");
  return approximate == "tanh" ? at::_gelu_tanh(self) : at::_gelu_exact(self);
}

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  TORCH_CHECK(input.is_floating_point() || input.is_complex(),
              "dropout: result type Float can't be cast to the desired output type ",
              input.scalar_type());
  const double kept = 1 - p;
  // The quotient is formed here, not by div_, which would round `kept` to float16 first.
  const double scale = to_real(input.scalar_type()) == kDouble
                           ? 1 / kept
                           : static_cast<double>(1 / static_cast<float>(kept));
  const Tensor mask = at::empty_like(input);
  at::bernoulli_(mask, kept);
  at::mul_(mask, Scalar(scale));
  return input * mask;
}

}  // namespace at::native
