// Layers of neural networks: normalisation, pooling, and tensors of a size that is told.
#include <algorithm>

#include "aten/ops/_adaptive_max_pool.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_interpolate.h"
#include "aten/ops/_layer_norm.h"
#include "aten/ops/_max_pool.h"
#include "aten/ops/_pad_by_copy.h"
#include "aten/ops/col2im.h"
#include "aten/ops/flatten.h"
#include "aten/ops/grid_sampler.h"
#include "aten/ops/im2col.h"
#include "aten/ops/istft.h"
#include "aten/ops/multinomial.h"
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

/// Operators whose input has `rank` dimensions and one batch dimension at most: the members join
/// it.
void join_batch(BatchedCall& call, int64_t rank) {
  const Tensor input = call.stack()[0].get<Tensor>();
  const bool has_batch = input.dim() == rank + 1;
  bool shares_others = true;
  for (size_t i = 1; i < call.stack().size(); ++i)
    shares_others = shares_others && !call.is_batched(call.stack()[i]);
  if (call.size() == 0 || !shares_others || (!has_batch && input.dim() != rank))
    return one_by_one(call);

  const Tensor& members = call.inside(input);
  call.stack()[0] = Value(has_batch ? at::flatten(members, 0, 1) : members);
  call.entry().call_boxed(call.stack());
  call.change_tensors([&](const Tensor& each) {
    if (!has_batch) return wrap_batch(each, call.level());
    return wrap_batch(at::unflatten(each, 0, {call.size(), input.sizes()[0]}), call.level());
  });
}

template <int64_t kRank>
void of_rank(BatchedCall& call) {
  join_batch(call, kRank);
}

/// Channels of planes. `kPerDimension` numbers of the list tell of each dimension of a plane.
template <size_t kPerDimension>
void of_planes(BatchedCall& call) {
  const size_t spatial = call.stack()[1].get<DimVector>().size() / kPerDimension;
  join_batch(call, static_cast<int64_t>(spatial) + 1);
}

/// Images and the grids of points at which they are sampled.
void grid_sampler(BatchedCall& call) {
  const Tensor input = call.stack()[0].get<Tensor>();
  const Tensor grid = call.stack()[1].get<Tensor>();
  if (call.size() == 0 || input.dim() < 4 || input.dim() != grid.dim()) return one_by_one(call);

  call.stack()[0] = Value(at::flatten(call.members(input), 0, 1));
  call.stack()[1] = Value(at::flatten(call.members(grid), 0, 1));
  call.entry().call_boxed(call.stack());
  call.finish(at::unflatten(call.stack()[0].get<Tensor>(), 0, {call.size(), input.sizes()[0]}));
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
    {ops::new_zeros::entry, &new_tensor},      {ops::im2col::entry, &of_rank<3>},
    {ops::col2im::entry, &of_rank<2>},         {ops::istft::entry, &of_rank<2>},
    {ops::multinomial::entry, &of_rank<1>},    {ops::grid_sampler::entry, &grid_sampler},
};

}  // namespace

}  // namespace at::transforms
