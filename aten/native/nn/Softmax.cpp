// softmax and log_softmax: dtypes, shapes and second derivatives.
#include <limits>

#include "aten/native/declarations/nn/Softmax.h"
#include "aten/ops/_log_softmax.h"
#include "aten/ops/_softmax.h"
#include "aten/ops/all.h"
#include "aten/ops/eq.h"
#include "aten/ops/exp.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/mul.h"
#include "aten/ops/neg.h"
#include "aten/ops/sub.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"

namespace at::native {

namespace {

Tensor sum_along(const Tensor& self, int64_t dim) { return at::sum(self, IntArrayRef(dim), true); }

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_softmax(dtype ? self.to(*dtype) : self, dim, false);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return at::_log_softmax(dtype ? self.to(*dtype) : self, dim, false);
}

Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const Tensor input = dtype ? self.to(*dtype) : self;
  const Tensor result = at::_softmax(input, dim, false);

  const Scalar lowest(-std::numeric_limits<double>::infinity());
  return at::masked_fill(result, at::all(at::eq(input, lowest), dim, true), Scalar(0));
}

TensorSpec softmax_shape(const Tensor& self, int64_t dim, bool half_to_float) {
  wrap_dim(dim, self.dim());

  TORCH_CHECK(!half_to_float || self.scalar_type() == kHalf,
              "conversion is supported for Half type only");

  return {DimVector(self.sizes()), half_to_float ? kFloat : self.scalar_type(), self.device()};
}

TensorSpec softmax_backward_shape(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                  ScalarType input_dtype) {
  wrap_dim(dim, output.dim());

  TORCH_CHECK(grad_output.sizes() == output.sizes(),
              "softmax_backward: expected grad_output of size ", output.sizes(), ", got ",
              grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == output.scalar_type(),
              "softmax_backward: expected grad_output of dtype ", output.scalar_type(), ", got ",
              grad_output.scalar_type());
  TORCH_CHECK(grad_output.device() == output.device(), "softmax_backward: expected grad_output on ",
              output.device(), ", got ", grad_output.device());

  // A float result may belong to a float16 input; its gradient is converted by autograd.
  TORCH_CHECK(input_dtype != kHalf || output.scalar_type() == kHalf ||
                  output.scalar_type() == kFloat,
              "expected scalar type ", output.scalar_type(), " but found ", input_dtype);
  return {DimVector(output.sizes()), output.scalar_type(), output.device()};
}

// The gradient is output * (grad_output - sum(grad_output * output)). This is its derivative by
// output, applied to grad.
Tensor _softmax_output_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output,
                                int64_t dim) {
  const Tensor first = grad * (grad_output - sum_along(grad_output * output, dim));
  return first - grad_output * sum_along(grad * output, dim);
}

// The gradient is grad_output - exp(output) * sum(grad_output). This is its derivative by output,
// applied to grad.
Tensor _log_softmax_output_backward(const Tensor& grad, const Tensor& grad_output,
                                    const Tensor& output, int64_t dim) {
  return -(grad * at::exp(output) * sum_along(grad_output, dim));
}

// The same gradient's derivative by grad_output, applied to grad.
Tensor _log_softmax_double_backward(const Tensor& grad, const Tensor& output, int64_t dim) {
  return grad - sum_along(grad * at::exp(output), dim);
}

}  // namespace at::native
