// Products of matrices and convolutions: products of batches.
#include "aten/ops/_addmm_activation.h"
#include "aten/ops/_int_mm.h"
#include "aten/ops/_weight_int8pack_mm.h"
#include "aten/ops/addmm.h"
#include "aten/ops/baddbmm.h"
#include "aten/ops/bmm.h"
#include "aten/ops/convolution.h"
#include "aten/ops/convolution_backward.h"
#include "aten/ops/dot.h"
#include "aten/ops/flatten.h"
#include "aten/ops/gelu.h"
#include "aten/ops/linear.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mm.h"
#include "aten/ops/movedim.h"
#include "aten/ops/mul.h"
#include "aten/ops/mv.h"
#include "aten/ops/new_empty.h"
#include "aten/ops/relu.h"
#include "aten/ops/reshape.h"
#include "aten/ops/unflatten.h"
#include "aten/transforms/BatchedCall.h"
#include "c10/dispatch/LocalState.h"

namespace at::transforms {

namespace {

const Tensor& tensor_at(BatchedCall& call, size_t i) { return call.stack()[i].get<Tensor>(); }

/// The members' tensor if it is one, else the tensor that they share.
Tensor inside_or_shared(BatchedCall& call, size_t i) {
  const Tensor& tensor = tensor_at(call, i);
  return call.is_batched(tensor) ? call.inside(tensor) : tensor;
}

/// mm and bmm.
void product(BatchedCall& call) {
  const int64_t rank = tensor_at(call, 0).dim();
  call.finish(
      at::matmul(call.aligned(tensor_at(call, 0), rank), call.aligned(tensor_at(call, 1), rank)));
}

void matrix_vector(BatchedCall& call) {
  const Tensor matrix = inside_or_shared(call, 0);
  const Tensor vector = inside_or_shared(call, 1);
  if (matrix.dim() == 2) return call.finish(at::matmul(vector, matrix.transpose(0, 1)));
  call.finish(at::matmul(matrix, vector.unsqueeze(-1)).squeeze(-1));
}

void dot(BatchedCall& call) {
  const Tensor left = inside_or_shared(call, 0).unsqueeze(-2);
  const Tensor right = inside_or_shared(call, 1).unsqueeze(-1);
  call.finish(at::matmul(left, right).squeeze(-1).squeeze(-1));
}

/// beta * self + alpha * product
Tensor sum_with_product(BatchedCall& call) {
  const int64_t rank = tensor_at(call, 1).dim();
  Tensor result =
      at::matmul(call.aligned(tensor_at(call, 1), rank), call.aligned(tensor_at(call, 2), rank));
  const Scalar& beta = call.stack()[3].get<Scalar>();
  const Scalar& alpha = call.stack()[4].get<Scalar>();
  if (alpha.to<double>() != 1) result = result * alpha;
  if (beta.to<double>() != 0) {
    const Tensor added = call.aligned(tensor_at(call, 0), rank);
    return result + (beta.to<double>() != 1 ? added * beta : added);
  }

  // Members that the result does not depend on.
  const bool has_batch = call.is_batched(call.stack()[1]) || call.is_batched(call.stack()[2]);
  return has_batch ? result : call.members(result);
}

/// addmm and baddbmm.
void added_product(BatchedCall& call) { call.finish(sum_with_product(call)); }

void activated_product(BatchedCall& call) {
  const bool use_gelu = call.stack()[5].get<bool>();
  const Tensor sum = sum_with_product(call);
  call.finish(use_gelu ? at::gelu(sum, "none") : at::relu(sum));
}

/// Products with a matrix that the members share: their rows are those of one matrix.
void rows(BatchedCall& call) {
  const Tensor self = tensor_at(call, 0);
  bool shares_others = true;
  for (size_t i = 1; i < call.stack().size(); ++i)
    shares_others = shares_others && !call.is_batched(call.stack()[i]);
  if (!shares_others || self.dim() != 2 || call.size() == 0) return one_by_one(call);

  call.stack()[0] = Value(at::flatten(call.inside(self), 0, 1));
  call.entry().call_boxed(call.stack());
  call.finish(at::unflatten(tensor_at(call, 0), 0, {call.size(), self.sizes()[0]}));
}

void linear(BatchedCall& call) {
  const Tensor input = tensor_at(call, 0);
  const Tensor weight = tensor_at(call, 1);
  const Value bias = call.stack()[2];
  const bool shares_bias = bias.is_none() || !call.is_batched(bias);
  if (!call.is_batched(weight) && shares_bias) {
    call.change_tensors([&](const Tensor& tensor) {
      return call.is_batched(tensor) ? call.inside(tensor) : tensor;
    });
    return call.run();
  }

  // A vector is a matrix of one row.
  const int64_t rank = std::max<int64_t>(input.dim(), 2);
  Tensor rows = call.aligned(input, input.dim());
  if (input.dim() == 1) rows = rows.unsqueeze(-2);
  Tensor result = at::matmul(rows, call.aligned(weight, rank).transpose(-2, -1));
  if (!bias.is_none()) result = result + call.aligned(bias.get<Tensor>(), rank);
  call.finish(input.dim() == 1 ? result.squeeze(-2) : result);
}

// --- Convolution ---

/// The batch as part of the first dimension of each member.
Tensor merged(const Tensor& members, int64_t into) {
  return at::flatten(at::movedim(members, 0, into), into, into + 1);
}

void convolution(BatchedCall& call) {
  const Tensor input = tensor_at(call, 0);
  const Tensor weight = tensor_at(call, 1);
  const Value bias = call.stack()[2];
  const int64_t size = call.size();
  if (size == 0) return one_by_one(call);

  if (!call.is_batched(weight) && (bias.is_none() || !call.is_batched(bias))) {
    call.stack()[0] = Value(merged(call.inside(input), 0));
    call.entry().call_boxed(call.stack());
    return call.finish(at::unflatten(call.stack()[0].get<Tensor>(), 0, {size, input.sizes()[0]}));
  }

  // Members are groups of channels.
  int64_t& groups = call.stack().back().get<int64_t>();
  groups *= size;
  call.stack()[0] = Value(merged(call.members(input), 1));
  call.stack()[1] = Value(merged(call.members(weight), 0));
  if (!bias.is_none()) call.stack()[2] = Value(merged(call.members(bias.get<Tensor>()), 0));
  call.entry().call_boxed(call.stack());
  const Tensor channels = call.stack()[0].get<Tensor>();
  call.finish(at::movedim(at::unflatten(channels, 1, {size, channels.sizes()[1] / size}), 1, 0));
}

/// The gradients of a convolution, whose arguments say whether theirs are wanted.
void convolution_backward(BatchedCall& call) {
  const int64_t size = call.size();
  if (size == 0) return one_by_one(call);
  const bool has_bias = call.stack()[3].get<bool>();
  const bool wants_input = tensor_at(call, 1).requires_grad();
  const bool wants_weight = tensor_at(call, 2).requires_grad();

  call.stack().back().get<int64_t>() *= size;
  call.stack()[0] = Value(merged(call.members(tensor_at(call, 0)), 1));
  {
    const c10::AutoGradMode keeping_that(true);
    call.stack()[1] = Value(merged(call.members(tensor_at(call, 1)), 1));
    call.stack()[2] = Value(merged(call.members(tensor_at(call, 2)), 0));
  }
  call.entry().call_boxed(call.stack());

  const auto separated = [&](size_t i, int64_t dim, bool is_wanted) {
    const Tensor result = tensor_at(call, i);
    const Tensor found =
        is_wanted
            ? at::movedim(at::unflatten(result, dim, {size, result.sizes()[dim] / size}), dim, 0)
            : at::new_empty(result, {size, 0});
    call.stack()[i] = Value(wrap_batch(found, call.level()));
  };
  separated(0, 1, wants_input);
  separated(1, 0, wants_weight);
  separated(2, 0, has_bias);
}

const OwnRule rules[] = {
    {ops::mm::entry, &product},
    {ops::bmm::entry, &product},
    {ops::mv::entry, &matrix_vector},
    {ops::dot::entry, &dot},
    {ops::addmm::entry, &added_product},
    {ops::baddbmm::entry, &added_product},
    {ops::linear::entry, &linear},
    {ops::convolution::entry, &convolution},
    {ops::_int_mm::entry, &rows},
    {ops::_weight_int8pack_mm::entry, &rows},
    {ops::_addmm_activation::entry, &activated_product},
    {ops::convolution_backward::entry, &convolution_backward},
};

}  // namespace

}  // namespace at::transforms
