// Running sums, products, extrema and log-sum-exp: shape rules and gradients.
#include "aten/native/declarations/reduction/Scan.h"
#include "aten/ops/_linear_recurrence.h"
#include "aten/ops/cat.h"
#include "aten/ops/conj.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/eq.h"
#include "aten/ops/flip.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

/// The elements one step further along `dim`, or one step before: a zero enters at the other end.
Tensor moved_by_one(const Tensor& x, int64_t dim, bool forward) {
  const int64_t n = x.sizes()[dim];
  const Tensor zero = at::zeros_like(at::narrow(x, dim, 0, 1));
  return forward ? at::cat({zero, at::narrow(x, dim, 0, n - 1)}, dim)
                 : at::cat({at::narrow(x, dim, 1, n - 1), zero}, dim);
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

/// grad_k = sum over i >= k of grad_i result_i, divided by x_k. Where x_k is 0, it is
/// (product of x_j over j < k) S_k, where S_k = sum over i >= k of grad_i times the product of x_j
/// over k < j <= i: S_k = grad_k + x_{k+1} S_{k+1}. The factors of this product may leave the range
/// of floats although the result does not.
Tensor _cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                         const Tensor& result) {
  if (self.dim() == 0 || self.numel() == 0) return grad;

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = self.sizes()[d];
  const Tensor values = conjugate(self.to(grad.scalar_type()));

  const Tensor one = at::ones_like(at::narrow(values, d, 0, 1));
  const Tensor before = at::cat({one, at::narrow(conjugate(result), d, 0, n - 1)}, d);
  const Tensor at_zeros =
      before * at::_linear_recurrence(grad, moved_by_one(values, d, false), d, true);

  const Tensor is_zero = at::eq(values, Scalar(0));
  const Tensor divisors = at::masked_fill(values, is_zero, Scalar(1));
  const Tensor elsewhere = _reverse_cumsum(grad * conjugate(result), d) / divisors;
  return at::where(is_zero, at_zeros, elsewhere);
}

TensorSpec linear_recurrence_shape(const Tensor& term, const Tensor& factor, int64_t dim, bool) {
  wrap_dim(dim, term.dim());
  TORCH_CHECK(factor.sizes() == term.sizes() && factor.device() == term.device() &&
                  factor.scalar_type() == term.scalar_type(),
              "_linear_recurrence: expected factor to be of ", term.sizes(), ", ",
              term.scalar_type(), " on ", term.device(), ", got ", factor.sizes(), ", ",
              factor.scalar_type(), " on ", factor.device());

  return {DimVector(term.sizes()), term.scalar_type(), term.device()};
}

/// The gradients t of the terms obey the recurrence in the other direction, with the factors that
/// carry r on: t_i = grad_i + conj(factor_{i+1}) t_{i+1}. That of factor_i is t_i conj(r_{i-1}).
std::tuple<Tensor, Tensor> _linear_recurrence_backward(const Tensor& grad, const Tensor& factor,
                                                       const Tensor& result, int64_t dim,
                                                       bool reverse) {
  if (factor.dim() == 0 || factor.numel() == 0) return {grad, at::zeros_like(factor)};

  const int64_t d = wrap_dim(dim, factor.dim());
  const Tensor of_terms =
      at::_linear_recurrence(grad, moved_by_one(conjugate(factor), d, reverse), d, !reverse);
  return {of_terms, of_terms * moved_by_one(conjugate(result), d, !reverse)};
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
