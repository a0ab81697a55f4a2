// Running sums, products, extrema and log-sum-exp: shape rules and gradients.
#include <vector>

#include "aten/native/declarations/reduction/Scan.h"
#include "aten/ops/any.h"
#include "aten/ops/cat.h"
#include "aten/ops/conj.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/eq.h"
#include "aten/ops/flip.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/sum.h"

namespace at::native {

namespace {

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

/// grad_k = sum over i >= k of grad_i times the product of x_j over all j <= i except k. This needs
/// no division by x_k, which may be zero, but takes quadratic time.
Tensor cumprod_backward_with_zeros(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t n = self.sizes()[dim];
  const Tensor first = at::ones_like(at::narrow(self, dim, 0, 1));
  Tensor before = first;
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) {
    // The products of the elements between k and i.
    Tensor between = first;
    if (k + 1 < n)
      between = at::cat({first, at::cumprod(at::narrow(self, dim, k + 1, n - k - 1), dim)}, dim);

    const Tensor weighted = at::narrow(grad, dim, k, n - k) * conjugate(before * between);
    parts.push_back(at::sum(weighted, IntArrayRef(&dim, 1), true));
    before = before * at::narrow(self, dim, k, 1);
  }

  return at::cat(parts, dim);
}

}  // namespace

TensorSpec cumulative_shape(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  wrap_dim(dim, self.dim());
  const ScalarType type =
      dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
  return {DimVector(self.sizes()), type, self.device()};
}

/// The sums of each element and all that follow it: the gradient of cumsum.
Tensor _reverse_cumsum(const Tensor& grad, int64_t dim) {
  if (grad.dim() == 0) return grad;
  return at::flip(at::cumsum(at::flip(grad, {dim}), dim), {dim});
}

Tensor _cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                         const Tensor& result) {
  if (self.dim() == 0 || self.numel() == 0) return grad;

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor values = self.to(grad.scalar_type());

  if (!self.is_meta() && at::any(at::eq(values, Scalar(0))).item().to_bool())
    return cumprod_backward_with_zeros(grad, values, d);

  // Without zeros: grad_k = sum over i >= k of grad_i result_i, divided by x_k.
  return _reverse_cumsum(grad * conjugate(result), d) / conjugate(values);
}

std::tuple<TensorSpec, TensorSpec> running_extremum_shape(const Tensor& self, int64_t dim) {
  // Tensors without elements take any dimension, as they do in PyTorch.
  if (self.numel() > 0) wrap_dim(dim, self.dim());

  const DimVector sizes(self.sizes());
  return {{sizes, self.scalar_type(), self.device()}, {sizes, kLong, self.device()}};
}

TensorSpec logcumsumexp_shape(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

TensorSpec exponential_weights_shape(const Tensor& grad_output, const Tensor& self,
                                     const Tensor& output, int64_t) {
  for (const Tensor& tensor : {grad_output, output}) {
    TORCH_CHECK(tensor.sizes() == self.sizes() && tensor.device() == self.device() &&
                    tensor.scalar_type() == self.scalar_type(),
                "gradient of logcumsumexp: expected tensors of ", self.sizes(), ", ",
                self.scalar_type(), " on ", self.device(), ", got ", tensor.sizes(), ", ",
                tensor.scalar_type(), " on ", tensor.device());
  }

  return {DimVector(self.sizes()), grad_output.scalar_type(), self.device()};
}

}  // namespace at::native
