// Activations composed of other operators: gelu, selu, celu, glu, prelu and rrelu.
#include "aten/native/declarations/nn/Activation.h"
#include "aten/native/shared/Neighbours.h"
#include "aten/ops/_gate.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/_gelu_tanh.h"
#include "aten/ops/_prelu_kernel.h"
#include "aten/ops/elu.h"
#include "aten/ops/gt.h"
#include "aten/ops/leaky_relu.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/masked_scatter.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/uniform.h"

namespace at::native {

Tensor gelu(const Tensor& self, std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh, got '", approximate, "'");
  TORCH_CHECK(self.layout() != Layout::Mkldnn || approximate == "none",
              "mkldnn_gelu: fast, approximate gelu is not supported");
  return approximate == "tanh" ? at::_gelu_tanh(self) : at::_gelu_exact(self);
}

Tensor selu(const Tensor& self) {
  // With these constants, mean 0 and variance 1 are a fixed point (Klambauer et al. 2017).
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  return at::elu(self, Scalar(kAlpha), Scalar(kScale), Scalar(1));
}

Tensor celu(const Tensor& self, const Scalar& alpha) {
  const double value = alpha.to_double();
  TORCH_CHECK(value != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return at::elu(self, alpha, Scalar(1), Scalar(1 / value));
}

Tensor glu(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "glu does not support scalars because halving size must be even");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.size(d);
  TORCH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", d, " is size ",
              size);

  return at::_gate(at::narrow(self, d, 0, size / 2), at::narrow(self, d, size / 2, size / 2));
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(self.scalar_type() == weight.scalar_type(),
              "prelu: Type promoting not supported. Got ", self.scalar_type(), " and ",
              weight.scalar_type());
  TORCH_CHECK(
      weight.dim() <= 1,
      "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (weight.numel() == 1) return at::_prelu_kernel(self, at::reshape(weight, IntArrayRef()));

  TORCH_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  TORCH_CHECK(channels == weight.numel(),
              "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
              weight.numel(), " and channel size = ", channels, ".");

  // One weight per channel: (1, channels, 1, ...).
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) shape[1] = channels;
  return at::_prelu_kernel(self, at::reshape(weight, shape));
}

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
             Generator* generator) {
  const double low = lower.to_double();
  const double high = upper.to_double();
  TORCH_CHECK(low <= high, "Lower bound should be less than or equal to the upper bound");
  if (!training) return at::leaky_relu(self, Scalar((low + high) / 2));
  if (self.is_meta()) return self * at::ones_like(self);

  // As in PyTorch, one double is drawn for each element that is not positive: the same seed gives
  // the same slopes.
  const Tensor below = at::logical_not(at::gt(self, Scalar(0)));
  const Tensor draws = at::uniform_(
      empty_tensor({at::sum(below).item<int64_t>()}, kDouble, self.device()), low, high, generator);
  return self * at::masked_scatter(at::ones_like(self), below, draws.to(self.scalar_type()));
}

}  // namespace at::native
