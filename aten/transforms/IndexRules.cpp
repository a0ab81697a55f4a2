// Indices and what they read: one index more counts the members.
#include <algorithm>

#include "aten/ops/_readable.h"
#include "aten/ops/add.h"
#include "aten/ops/allclose.h"
#include "aten/ops/arange.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/embedding.h"
#include "aten/ops/equal.h"
#include "aten/ops/fill.h"
#include "aten/ops/flatten.h"
#include "aten/ops/ge.h"
#include "aten/ops/index.h"
#include "aten/ops/index_put.h"
#include "aten/ops/is_nonzero.h"
#include "aten/ops/item.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/lt.h"
#include "aten/ops/mean.h"
#include "aten/ops/movedim.h"
#include "aten/ops/ne.h"
#include "aten/ops/nll_loss_forward.h"
#include "aten/ops/nonzero.h"
#include "aten/ops/put.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/unflatten.h"
#include "aten/ops/where.h"
#include "aten/transforms/BatchedCall.h"
#include "c10/util/Exception.h"

namespace at::transforms {

namespace {

/// Where the dimensions that indices make are among the others: those before them, or 0 where the
/// indices are apart.
struct IndexPlace {
  int64_t before = 0;
  bool are_together = true;
  int64_t rank = 0;  // of the indices, broadcast
  bool any_mask = false;
};

IndexPlace place_of(const Value::Tensors& indices) {
  IndexPlace place;
  int64_t first = -1;
  int64_t last = -1;
  int64_t count = 0;

  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined()) continue;
    if (first < 0) first = static_cast<int64_t>(i);
    last = static_cast<int64_t>(i);
    ++count;
    place.rank = std::max(place.rank, indices[i].dim());
    place.any_mask =
        place.any_mask || indices[i].scalar_type() == kBool || indices[i].scalar_type() == kByte;
  }

  place.are_together = last - first + 1 == count;
  place.before = place.are_together ? std::max<int64_t>(first, 0) : 0;
  return place;
}

/// 0, 1, ... of the members, with `rank` dimensions after that of the batch.
Tensor member_numbers(BatchedCall& call, int64_t rank, ScalarType dtype = kLong) {
  DimVector one_each(static_cast<size_t>(rank) + 1, 1);
  one_each[0] = call.size();
  const Device device = call.tensors()[0].device();
  return at::reshape(at::arange(call.size(), dtype, std::nullopt, device), one_each);
}

/// self[indices]
void index(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  Value::Tensors indices = call.stack()[1].get<Value::Tensors>();
  const IndexPlace place = place_of(indices);
  bool any_batched = false;
  for (const Tensor& each : indices) any_batched = any_batched || call.is_batched(each);

  if (!any_batched) {
    indices.insert(indices.begin(), Tensor());
    const Tensor found = at::index(call.inside(self), indices);
    return call.finish(place.are_together ? found : at::movedim(found, place.rank, 0));
  }
  if (place.any_mask) return one_by_one(call);

  for (Tensor& each : indices)
    if (each.defined()) each = call.aligned(each, place.rank);
  if (!call.is_batched(self))
    return call.finish(at::movedim(at::index(self, indices), place.before, 0));

  indices.insert(indices.begin(), member_numbers(call, place.rank));
  Tensor found = at::index(call.inside(self), indices);
  // What is before the indices is behind them now.
  for (int64_t d = 0; d < place.before; ++d) found = at::movedim(found, place.rank + 1 + d, 1 + d);
  call.finish(found);
}

/// The values for indices of which the first counts the members: for each what the indices select,
/// then the dimensions before these, then those after.
Tensor values_by_index(BatchedCall& call, const Tensor& values, const IndexPlace& place,
                       int64_t rank) {
  Tensor members = call.members(values);
  for (int64_t d = values.dim(); d < rank; ++d) members = members.unsqueeze(1);
  if (place.before == 0) return members;
  for (int64_t d = 0; d < place.rank; ++d)
    members = at::movedim(members, 1 + place.before + d, 1 + d);
  return members;
}

/// self[indices] = values, or +=; in place or in a copy.
void index_put(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  Value::Tensors indices = call.stack()[1].get<Value::Tensors>();
  const Tensor values = call.stack()[2].get<Tensor>();
  const bool accumulates = call.stack()[3].get<bool>();
  const bool writes = call.arguments()[0].is_written;

  const IndexPlace place = place_of(indices);
  bool are_shared = true;
  int64_t indexed = 0;
  for (const Tensor& each : indices) {
    if (!each.defined()) continue;
    are_shared = are_shared && !call.is_batched(each);
    indexed += each.scalar_type() == kBool || each.scalar_type() == kByte ? each.dim() : 1;
  }
  const bool stay_together = are_shared && place.are_together;
  if (!stay_together && place.any_mask) return one_by_one(call);

  const Tensor target = writes ? call.inside(self) : at::clone(call.members(self));
  const int64_t rank = self.dim() - indexed + (place.any_mask ? 1 : place.rank);
  if (stay_together) {
    indices.insert(indices.begin(), Tensor());
    at::index_put_(target, indices, call.aligned(values, rank), accumulates);
  } else {
    for (Tensor& each : indices)
      if (each.defined()) each = call.aligned(each, place.rank);
    indices.insert(indices.begin(), member_numbers(call, place.rank));
    at::index_put_(target, indices, values_by_index(call, values, place, rank), accumulates);
  }
  writes ? call.stack().assign(1, Value(self)) : call.finish(target);
}

/// put(self, index, source, accumulate) in flattened members.
void put(BatchedCall& call) {
  const Tensor self = call.members(call.stack()[0].get<Tensor>());
  const auto flat = [&](const Tensor& tensor) {
    return at::reshape(call.members(tensor), {call.size(), tensor.numel()});
  };
  const Tensor index = flat(call.stack()[1].get<Tensor>());
  const Tensor source = flat(call.stack()[2].get<Tensor>());

  const Tensor result =
      at::index_put(flat(call.stack()[0].get<Tensor>()), {member_numbers(call, 1), index}, source,
                    call.stack()[3].get<bool>());
  call.finish(at::reshape(result, self.sizes()));
}

/// Each member's rows follow those of the one before.
void embedding(BatchedCall& call) {
  const Tensor weight = call.stack()[0].get<Tensor>();
  const Tensor indices = call.stack()[1].get<Tensor>();
  if (call.size() == 0) return one_by_one(call);
  if (!call.is_batched(weight)) {
    call.stack()[1] = Value(call.inside(indices));
    return call.run();
  }
  // A row that gets no gradient has another number for each member.
  if (call.stack()[2].get<int64_t>() >= 0 || call.stack()[3].get<bool>()) return one_by_one(call);

  const Scalar rows(weight.sizes()[0]);
  const Tensor own = call.is_batched(indices) ? call.inside(indices) : indices;
  const Tensor first = member_numbers(call, indices.dim(), indices.scalar_type()) * rows;
  // What is not a row of a member must not be one of another.
  const Tensor is_row = at::logical_and(at::ge(own, Scalar(0)), at::lt(own, rows));
  call.stack()[0] = Value(at::flatten(call.inside(weight), 0, 1));
  call.stack()[1] = Value(at::where(is_row, own + first, Scalar(-1)).to(own.scalar_type()));
  call.run();
}

/// The losses of all members' rows, and of them those of each member.
void nll_loss(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  const Tensor target = call.stack()[1].get<Tensor>();
  const auto reduction = call.stack()[3].get<int64_t>();
  const auto ignored = call.stack()[4].get<int64_t>();
  if (!call.stack()[2].is_none() || call.size() == 0 || self.dim() == 0) return one_by_one(call);

  const bool has_rows = self.dim() > 1;
  Tensor rows = call.members(self);
  Tensor targets = call.members(target);
  if (has_rows) {
    rows = at::flatten(rows, 0, 1);
    targets = at::flatten(targets, 0, 1);
  }
  Tensor losses =
      std::get<0>(at::nll_loss_forward(rows, targets, Tensor(), /*reduction=*/0, ignored));
  if (has_rows) losses = at::unflatten(losses, 0, {call.size(), self.sizes()[0]});

  Tensor counted = at::ne(call.members(target), Scalar(ignored)).to(self.scalar_type());
  if (counted.dim() > 1) counted = at::sum(at::flatten(counted, 1, -1), 1);
  const bool keeps_rows = reduction == 0 && has_rows;
  Tensor result = losses;
  if (!keeps_rows && losses.dim() > 1) result = at::sum(at::flatten(losses, 1, -1), 1);
  if (reduction == 1) result = result / counted;
  if (reduction == 0) counted = counted * Scalar(0);

  call.stack().clear();
  call.stack().emplace_back(wrap_batch(result, call.level()));
  call.stack().emplace_back(wrap_batch(counted, call.level()));
}

/// fill_ with a number of each member.
void fill(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  const Tensor number = call.stack()[1].get<Tensor>();
  at::copy_(call.inside(self), call.aligned(number, self.dim()));
  call.stack().assign(1, Value(self));
}

/// What asks for the elements, of which there are many.
void refuse(BatchedCall& call) {
  TORCH_CHECK(
      false, "vmap: It looks like you're calling .", call.entry().schema().name,
      "() on a Tensor inside of vmap, which needs its values, and vmap cannot know which "
      "member of the batch is meant: use operators on tensors (torch.where for conditions)");
}

/// For checks, which are about all members.
void readable(BatchedCall& call) {
  call.stack()[0] = Value(at::_readable(call.inside(call.stack()[0].get<Tensor>())));
}

const OwnRule rules[] = {
    {ops::index_Tensor::entry, &index},   {ops::index_put::entry, &index_put},
    {ops::index_put_::entry, &index_put}, {ops::put::entry, &put},
    {ops::embedding::entry, &embedding},  {ops::nll_loss_forward::entry, &nll_loss},
    {ops::fill__Tensor::entry, &fill},    {ops::_readable::entry, &readable},
    {ops::item::entry, &refuse},          {ops::nonzero::entry, &refuse},
    {ops::equal::entry, &refuse},         {ops::allclose::entry, &refuse},
    {ops::is_nonzero::entry, &refuse},
};

}  // namespace

}  // namespace at::transforms
