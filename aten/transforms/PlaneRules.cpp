// Operators on planes of images, and others that take one batch dimension: the members join it.
#include "aten/ops/_adaptive_max_pool.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_avg_pool_backward.h"
#include "aten/ops/_fused_attention.h"
#include "aten/ops/_interpolate.h"
#include "aten/ops/_interpolate_backward.h"
#include "aten/ops/_max_pool.h"
#include "aten/ops/_max_pool_backward.h"
#include "aten/ops/_max_unpool.h"
#include "aten/ops/_pad_by_copy.h"
#include "aten/ops/_pad_by_copy_backward.h"
#include "aten/ops/_sample_with_replacement.h"
#include "aten/ops/_scaled_dot_product_flash_attention_for_cpu.h"
#include "aten/ops/col2im.h"
#include "aten/ops/expand.h"
#include "aten/ops/flatten.h"
#include "aten/ops/grid_sampler.h"
#include "aten/ops/im2col.h"
#include "aten/ops/istft.h"
#include "aten/ops/multinomial.h"
#include "aten/ops/unflatten.h"
#include "aten/transforms/BatchedCall.h"

namespace at::transforms {

namespace {

const Tensor& tensor_at(BatchedCall& call, size_t i) { return call.stack()[i].get<Tensor>(); }

/// Runs the operator with the members in the first dimension of its tensors; if these have a batch
/// of their own, together with that.
void run_joined(BatchedCall& call, bool has_batch) {
  const int64_t rows = tensor_at(call, 0).sizes()[0];
  call.change_tensors([&](const Tensor& tensor) {
    const Tensor members = call.members(tensor);
    return has_batch ? at::flatten(members, 0, 1) : members;
  });
  call.entry().call_boxed(call.stack());
  call.change_tensors([&](const Tensor& each) {
    return wrap_batch(has_batch ? at::unflatten(each, 0, {call.size(), rows}) : each, call.level());
  });
}

/// Of an input with `rank` dimensions, or one more. What belongs to all rows of a batch, such as a
/// window, cannot differ between the members.
void join_input(BatchedCall& call, int64_t rank) {
  const int64_t dim = tensor_at(call, 0).dim();
  const bool is_alone = call.tensors().size() == 1;
  const bool fits = dim == rank || dim == rank + 1;
  if (call.size() == 0 || !is_alone || !fits) return one_by_one(call);
  run_joined(call, dim == rank + 1);
}

template <int64_t kRank>
void of_rank(BatchedCall& call) {
  join_input(call, kRank);
}

/// Argument `kList` has `kPerDimension` numbers for each dimension of a plane.
template <size_t kList, size_t kPerDimension>
int64_t rank_of_planes(BatchedCall& call) {
  const size_t spatial = call.stack()[kList].get<DimVector>().size() / kPerDimension;
  return static_cast<int64_t>(spatial) + 1;
}

template <size_t kPerDimension>
void of_planes(BatchedCall& call) {
  join_input(call, rank_of_planes<1, kPerDimension>(call));
}

/// max_unpool(planes, indices, output_size)
void unpool(BatchedCall& call) {
  const int64_t rank = rank_of_planes<2, 1>(call);
  const int64_t dim = tensor_at(call, 0).dim();
  const bool fits = (dim == rank || dim == rank + 1) && tensor_at(call, 1).dim() == dim;
  if (call.size() == 0 || !fits) return one_by_one(call);
  run_joined(call, dim == rank + 1);
}

/// Gradients of operators on planes: the second argument is the size of their input.
template <size_t kList, size_t kPerDimension>
void planes_backward(BatchedCall& call) {
  const int64_t rank = rank_of_planes<kList, kPerDimension>(call);
  const int64_t dim = tensor_at(call, 0).dim();
  DimVector& sizes = call.stack()[1].get<DimVector>();
  const bool fits = (dim == rank || dim == rank + 1) && static_cast<int64_t>(sizes.size()) == dim;
  if (call.size() == 0 || !fits) return one_by_one(call);

  const bool has_batch = dim == rank + 1;
  has_batch ? void(sizes[0] *= call.size()) : void(sizes.insert(sizes.begin(), call.size()));
  run_joined(call, has_batch);
}

/// Images and the grids of points at which they are sampled.
void grid_sampler(BatchedCall& call) {
  const int64_t dim = tensor_at(call, 0).dim();
  if (call.size() == 0 || dim < 4 || dim != tensor_at(call, 1).dim()) return one_by_one(call);
  run_joined(call, true);
}

/// Queries, keys and values of heads; the mask, argument `kMask`, broadcasts to all.
template <size_t kMask>
void attention(BatchedCall& call) {
  const Tensor query = tensor_at(call, 0);
  Value& mask = call.stack()[kMask];
  for (size_t i = 0; i < 3; ++i)
    if (call.size() == 0 || tensor_at(call, i).dim() != 4) return one_by_one(call);

  if (!mask.is_none()) {
    const Tensor given = mask.get<Tensor>();
    if (given.dim() > 4) return one_by_one(call);
    Tensor members = call.members(given);
    for (int64_t d = given.dim(); d < 4; ++d) members = members.unsqueeze(1);
    DimVector sizes(members.sizes());
    sizes[1] = query.sizes()[0];
    mask = Value(wrap_batch(at::expand(members, sizes), call.level()));
  }
  run_joined(call, true);
}

const OwnRule rules[] = {
    {ops::_avg_pool::entry, &of_planes<1>},
    {ops::_max_pool::entry, &of_planes<1>},
    {ops::_adaptive_max_pool::entry, &of_planes<1>},
    {ops::_interpolate::entry, &of_planes<1>},
    {ops::_pad_by_copy::entry, &of_planes<2>},
    {ops::_max_unpool::entry, &unpool},
    {ops::_avg_pool_backward::entry, &planes_backward<2, 1>},
    {ops::_max_pool_backward::entry, &planes_backward<3, 1>},
    {ops::_interpolate_backward::entry, &planes_backward<2, 1>},
    {ops::_pad_by_copy_backward::entry, &planes_backward<2, 2>},
    {ops::im2col::entry, &of_rank<3>},
    {ops::col2im::entry, &of_rank<2>},
    {ops::istft::entry, &of_rank<2>},
    {ops::multinomial::entry, &of_rank<1>},
    {ops::_sample_with_replacement::entry, &of_rank<1>},
    {ops::grid_sampler::entry, &grid_sampler},
    {ops::_scaled_dot_product_flash_attention_for_cpu::entry, &attention<5>},
    {ops::_fused_attention::entry, &attention<3>},
};

}  // namespace

}  // namespace at::transforms
