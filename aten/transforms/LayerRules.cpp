// Normalisation, and new tensors of a size that is told.
#include <algorithm>

#include "aten/ops/_batch_norm_apply.h"
#include "aten/ops/_batch_norm_train.h"
#include "aten/ops/_layer_norm.h"
#include "aten/ops/flatten.h"
#include "aten/ops/movedim.h"
#include "aten/ops/new_empty.h"
#include "aten/ops/new_empty_strided.h"
#include "aten/ops/new_full.h"
#include "aten/ops/new_ones.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/unflatten.h"
#include "aten/transforms/BatchedCall.h"

namespace at::transforms {

namespace {

/// The weights of each member scale what is normalised without them.
void layer_norm(BatchedCall& call) {
  const Tensor input = call.stack()[0].get<Tensor>();
  const Value weight = call.stack()[2];
  const Value bias = call.stack()[3];
  const bool own_weights = call.is_batched(weight) || call.is_batched(bias);
  call.stack()[0] = Value(call.members(input));
  if (!own_weights) return call.run();

  call.stack()[2] = Value();
  call.stack()[3] = Value();
  call.entry().call_boxed(call.stack());
  Tensor result = call.stack()[0].get<Tensor>();
  if (!weight.is_none()) result = result * call.aligned(weight.get<Tensor>(), input.dim());
  if (!bias.is_none()) result = result + call.aligned(bias.get<Tensor>(), input.dim());
  call.stack()[0] = Value(result);
  call.change_tensors([&](const Tensor& each) { return wrap_batch(each, call.level()); });
}

/// Channels of all members in a row; `dim` is that of channels in a member.
Tensor joined_channels(BatchedCall& call, const Tensor& tensor, int64_t dim) {
  return at::flatten(at::movedim(call.members(tensor), 0, dim), dim, dim + 1);
}

/// Batch normalization has channels in the second dimension of the input, and vectors of channels.
void batch_norm(BatchedCall& call) {
  if (call.stack()[0].get<Tensor>().dim() < 2) return one_by_one(call);
  const auto separated = [&](const Tensor& each) {
    const int64_t dim = each.dim() > 1 ? 1 : 0;
    const DimVector sizes{call.size(), each.sizes()[static_cast<size_t>(dim)] / call.size()};
    return wrap_batch(at::movedim(at::unflatten(each, dim, sizes), dim, 0), call.level());
  };
  if (call.size() == 0) return one_by_one(call);

  call.change_tensors([&](const Tensor& tensor) {
    return joined_channels(call, tensor, tensor.dim() > 1 ? 1 : 0);
  });
  call.entry().call_boxed(call.stack());
  call.change_tensors(separated);
}

/// A new tensor for each member.
void new_tensor(BatchedCall& call) {
  DimVector& sizes = call.stack()[1].get<DimVector>();
  sizes.insert(sizes.begin(), call.size());
  call.change_tensors([&](const Tensor& tensor) { return call.members(tensor); });
  call.run();
}

void new_strided_tensor(BatchedCall& call) {
  DimVector& sizes = call.stack()[1].get<DimVector>();
  DimVector& strides = call.stack()[2].get<DimVector>();
  int64_t elements = 1;
  for (size_t d = 0; d < sizes.size() && d < strides.size(); ++d)
    elements += (sizes[d] - 1) * strides[d];
  strides.insert(strides.begin(), std::max<int64_t>(elements, 0));
  new_tensor(call);
}

const OwnRule rules[] = {
    {ops::_layer_norm::entry, &layer_norm},
    {ops::_batch_norm_apply::entry, &batch_norm},
    {ops::_batch_norm_train::entry, &batch_norm},
    {ops::new_empty::entry, &new_tensor},
    {ops::new_empty_strided::entry, &new_strided_tensor},
    {ops::new_full::entry, &new_tensor},
    {ops::new_ones::entry, &new_tensor},
    {ops::new_zeros::entry, &new_tensor},
};

}  // namespace

}  // namespace at::transforms
