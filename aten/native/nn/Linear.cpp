// Linear and bilinear layers: the shape rule, and gradients of input, weight and bias.
#include "aten/native/declarations/nn/Linear.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ProductChecks.h"
#include "aten/ops/conj.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mm.h"
#include "aten/ops/mul.h"
#include "aten/ops/mv.h"
#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// Whether a bias has the result's size or broadcasts to the matrix that holds the result's rows.
bool fits_into(IntArrayRef bias, IntArrayRef result, int64_t rows) {
  if (bias == result) return true;

  const DimVector matrix{rows, result.back()};
  if (bias.size() > 2) return false;

  for (size_t d = 1; d <= bias.size(); ++d) {
    if (bias[bias.size() - d] != 1 && bias[bias.size() - d] != matrix[2 - d]) return false;
  }

  return true;
}

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

/// The tensor as a matrix with one row per vector of the last dimension.
Tensor as_rows(const Tensor& tensor) {
  return at::reshape(tensor,
                     {product_of(tensor.sizes().slice(0, tensor.dim() - 1)), tensor.size(-1)});
}

}  // namespace

TensorSpec linear_shape(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(input.dim() > 0 && weight.dim() > 0,
              "both arguments to linear need to be at least 1D, but they are ", input.dim(),
              "D and ", weight.dim(), "D");
  TORCH_CHECK(weight.dim() <= 2,
              "linear(): weight must be a matrix (out_features, in_features) or a vector "
              "(in_features), got ",
              weight.dim(), "-D tensor");
  check_same_device("linear", input, weight);
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ",
              cpp_type_name(input.scalar_type()), " != ", cpp_type_name(weight.scalar_type()));

  const IntArrayRef outer = input.sizes().slice(0, input.dim() - 1);
  const int64_t outputs = weight.dim() == 2 ? weight.sizes()[0] : 1;
  TORCH_CHECK(input.size(-1) == weight.size(-1), "mat1 and mat2 shapes cannot be multiplied (",
              product_of(outer), "x", input.size(-1), " and ", weight.size(-1), "x", outputs, ")");

  DimVector sizes(outer);
  if (weight.dim() == 2) sizes.push_back(outputs);

  if (bias.defined()) {
    check_same_device("linear", input, bias);
    TORCH_CHECK(bias.scalar_type() == weight.scalar_type(),
                "self and mat2 must have the same dtype, but got ", bias.scalar_type(), " and ",
                weight.scalar_type());
    const bool is_row = bias.dim() == weight.dim() - 1 && bias.numel() == outputs;

    // PyTorch also adds what broadcasts to the rows of a matrix.
    TORCH_CHECK(is_row || (weight.dim() == 2 && fits_into(bias.sizes(), sizes, product_of(outer))),
                "The expanded size of the tensor (", outputs, ") must match the existing size (",
                bias.dim() == 0 ? 1 : bias.size(-1),
                ") at non-singleton dimension 1.  Target sizes: [", product_of(outer), ", ",
                outputs, "].  Tensor sizes: ", bias.sizes());
  }

  return {sizes, input.scalar_type(), input.device()};
}

Tensor _linear_backward_input(const Tensor& grad, const Tensor& weight, IntArrayRef sizes) {
  // A weight that is a vector gives one output, which has no dimension of its own.
  if (weight.dim() == 1) return at::mul(at::unsqueeze(grad, -1), conjugate(weight));

  TORCH_CHECK(
      weight.dim() == 2 && !sizes.empty(),
      "_linear_backward_input(): expected a matrix of weights and at least one dimension, got ",
      weight.sizes(), " and ", sizes);

  const int64_t rows = product_of(sizes.slice(0, sizes.size() - 1));
  return at::reshape(at::mm(at::reshape(grad, {rows, weight.sizes()[0]}), conjugate(weight)),
                     sizes);
}

Tensor _linear_backward_weight(const Tensor& grad, const Tensor& input, int64_t ndim) {
  TORCH_CHECK(input.dim() > 0 && (grad.dim() > 0 || ndim == 1),
              "_linear_backward_weight(): expected at least one dimension, got input of ",
              input.sizes(), " and grad of ", grad.sizes());

  const Tensor rows = as_rows(conjugate(input));
  if (ndim == 1) return at::mv(at::transpose(rows, 0, 1), at::reshape(grad, {rows.sizes()[0]}));
  return at::mm(at::transpose(at::reshape(grad, {rows.sizes()[0], grad.size(-1)}), 0, 1), rows);
}

Tensor _linear_backward_bias(const Tensor& grad, int64_t ndim, IntArrayRef sizes) {
  // With a vector as weight, the bias is a single number.
  if (ndim == 1) return at::sum(grad);
  if (grad.sizes() == sizes) return grad;
  if (sizes.size() != 1 || sizes[0] != grad.size(-1))
    return at::sum_to_size(at::reshape(grad, {-1, grad.size(-1)}), sizes);

  DimVector outer;
  for (int64_t d = 0; d + 1 < grad.dim(); ++d) outer.push_back(d);
  return outer.empty() ? grad : at::sum(grad, IntArrayRef(outer));
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  TORCH_CHECK(weight.dim() == 3, "bilinear(): weight must have 3 dimensions, got ", weight.dim());
  TORCH_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ",
              input1.dim(), " and ", input2.dim());
  TORCH_CHECK(input1.dim() > 0 && batch_sizes(input1, 1) == batch_sizes(input2, 1),
              "bilinear(): input batch dimensions do not match: got ", input1.sizes(), " and ",
              input2.sizes());

  const int64_t outputs = weight.sizes()[0];
  const int64_t first = weight.sizes()[1];
  const int64_t second = weight.sizes()[2];
  TORCH_CHECK(input1.size(-1) == first, "bilinear(): input1 size does not match weight size: got ",
              input1.size(-1), " but expected ", first);
  TORCH_CHECK(input2.size(-1) == second, "bilinear(): input2 size does not match weight size: got ",
              input2.size(-1), " but expected ", second);

  TORCH_CHECK(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == outputs),
              "bilinear(): bias size does not match weight size: got ", bias.sizes(),
              " but expected [", outputs, "]");

  // (rows, first) @ (first, outputs * second), then a matrix-vector product per row with input2.
  const DimVector batch(batch_sizes(input1, 1));
  const int64_t rows = product_of(batch);

  const Tensor stacked = at::reshape(at::permute(weight, {1, 0, 2}), {first, outputs * second});
  const Tensor left =
      at::reshape(at::matmul(at::reshape(input1, {rows, first}), stacked), {rows, outputs, second});
  const Tensor result = at::reshape(at::matmul(left, at::reshape(input2, {rows, second, 1})),
                                    joined_sizes(batch, {outputs}));

  return bias.defined() ? result + bias : result;
}

}  // namespace at::native
