// Layers of neural networks: normalisation, pooling, and tensors of a size that is told.
#include <algorithm>

#include "aten/ops/_adaptive_max_pool.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_interpolate.h"
#include "aten/ops/_layer_norm.h"
#include "aten/ops/_max_pool.h"
#include "aten/ops/_pad_by_copy.h"
#include "aten/ops/flatten.h"
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

/// Operators on planes take one batch dimension at most: the members join it. `kPerDimension`
/// numbers of the list tell of each dimension of a plane.
template <size_t kPerDimension>
void of_planes(BatchedCall& call) {
  const Tensor input = call.stack()[0].get<Tensor>();
  const size_t spatial = call.stack()[1].get<DimVector>().size() / kPerDimension;
  const bool has_batch = static_cast<size_t>(input.dim()) == spatial + 2;
  if (call.size() == 0 || (!has_batch && static_cast<size_t>(input.dim()) != spatial + 1))
    return one_by_one(call);

  const Tensor& members = call.inside(input);
  call.stack()[0] = Value(has_batch ? at::flatten(members, 0, 1) : members);
  call.entry().call_boxed(call.stack());
  call.change_tensors([&](const Tensor& each) {
    if (!has_batch) return wrap_batch(each, call.level());
    return wrap_batch(at::unflatten(each, 0, {call.size(), input.sizes()[0]}), call.level());
  });
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
    {ops::_layer_norm::entry, &layer_norm},    {ops::_avg_pool::entry, &of_planes<1>},
    {ops::_max_pool::entry, &of_planes<1>},    {ops::_adaptive_max_pool::entry, &of_planes<1>},
    {ops::_interpolate::entry, &of_planes<1>}, {ops::_pad_by_copy::entry, &of_planes<2>},
    {ops::new_empty::entry, &new_tensor},      {ops::new_empty_strided::entry, &new_strided_tensor},
    {ops::new_full::entry, &new_tensor},       {ops::new_ones::entry, &new_tensor},
    {ops::new_zeros::entry, &new_tensor},
};

}  // namespace

}  // namespace at::transforms
