// Activations that are chosen by an argument, and dropout.
#include "aten/native/ActivationNative.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/_gelu_tanh.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/div.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

Tensor gelu(const Tensor& self, std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh, got '", approximate, "'");
  return approximate == "tanh" ? at::_gelu_tanh(self) : at::_gelu_exact(self);
}

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * at::zeros_like(input);
  const double kept = 1 - p;
  const Tensor mask = at::empty_like(input);
  at::bernoulli_(mask, kept);
  at::div_(mask, Scalar(kept));
  return input * mask;
}

}  // namespace at::native
