// Slices along a dimension that an index names, and what is found in sorted sequences.
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/gather.h"
#include "aten/ops/index_add.h"
#include "aten/ops/index_copy.h"
#include "aten/ops/index_fill.h"
#include "aten/ops/index_select.h"
#include "aten/ops/isin.h"
#include "aten/ops/lt.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter.h"
#include "aten/ops/scatter_add.h"
#include "aten/ops/searchsorted.h"
#include "aten/ops/to.h"
#include "aten/ops/where.h"
#include "aten/transforms/BatchedCall.h"

namespace at::transforms {

namespace {

const Tensor& tensor_at(BatchedCall& call, size_t i) { return call.stack()[i].get<Tensor>(); }

/// What the operators of this file have in common: self, dim, index.
bool takes_no_slices(BatchedCall& call) { return tensor_at(call, 0).dim() == 0; }
bool shares_index(BatchedCall& call) { return !call.is_batched(tensor_at(call, 2)); }

/// The dimension, counted after the batch.
int64_t dim_of(BatchedCall& call) {
  return wrap_dim(call.stack()[1].get<int64_t>(), tensor_at(call, 0).dim()) + 1;
}

/// With a shared index, these are operators along a dimension.
void run_with_shared_index(BatchedCall& call) {
  const Value index = call.stack()[2];
  call.stack()[1] = Value(dim_of(call));
  call.change_tensors([&](const Tensor& tensor) { return call.members(tensor); });
  call.stack()[2] = index;
  call.run();
}

/// The index of each member, once for every element of its slices: what gather and scatter expect.
/// `like` has the sizes of the batch of slices in all dimensions but `dim`.
Tensor index_of_elements(BatchedCall& call, const Tensor& like, int64_t dim) {
  const Tensor& index = tensor_at(call, 2);
  DimVector one_each(static_cast<size_t>(like.dim()), 1);
  one_each[0] = call.size();
  one_each[static_cast<size_t>(dim)] = index.numel();

  DimVector sizes(like.sizes());
  sizes[static_cast<size_t>(dim)] = index.numel();
  return at::expand(at::reshape(call.inside(index).to(kLong), one_each), sizes);
}

/// Leaves the result; operators in place write it to self.
void finish_in_form(BatchedCall& call, const Tensor& result) {
  const Tensor self = tensor_at(call, 0);
  if (!call.arguments()[0].is_written) return call.finish(result);
  at::copy_(call.inside(self), result);
  call.stack().assign(1, Value(self));
}

void index_select(BatchedCall& call) {
  if (takes_no_slices(call)) return one_by_one(call);
  if (shares_index(call)) return run_with_shared_index(call);

  const Tensor self = call.members(tensor_at(call, 0));
  const int64_t dim = dim_of(call);
  call.finish(at::gather(self, dim, index_of_elements(call, self, dim)));
}

/// index_add(self, dim, index, source, alpha)
void index_add(BatchedCall& call) {
  if (takes_no_slices(call)) return one_by_one(call);
  if (shares_index(call)) return run_with_shared_index(call);

  const Tensor self = call.members(tensor_at(call, 0));
  const Tensor source = call.members(tensor_at(call, 3)) * call.stack()[4].get<Scalar>();
  const int64_t dim = dim_of(call);
  finish_in_form(call, at::scatter_add(self, dim, index_of_elements(call, source, dim), source));
}

/// index_copy(self, dim, index, source)
void index_copy(BatchedCall& call) {
  const Tensor given = tensor_at(call, 3);
  if (takes_no_slices(call) || given.dim() != tensor_at(call, 0).dim()) return one_by_one(call);
  if (shares_index(call)) return run_with_shared_index(call);

  const Tensor source = call.members(given);
  const int64_t dim = dim_of(call);
  finish_in_form(call, at::scatter(call.members(tensor_at(call, 0)), dim,
                                   index_of_elements(call, source, dim), source));
}

/// index_fill(self, dim, index, value), whose index may count from the end.
void index_fill(BatchedCall& call) {
  if (takes_no_slices(call)) return one_by_one(call);
  if (shares_index(call)) return run_with_shared_index(call);

  const Tensor self = call.members(tensor_at(call, 0));
  const int64_t dim = dim_of(call);
  const Tensor index = index_of_elements(call, self, dim);
  const Scalar length(self.sizes()[static_cast<size_t>(dim)]);
  const Tensor from_start = at::where(at::lt(index, Scalar(0)), index + length, index);
  finish_in_form(call, at::scatter(self, dim, from_start, call.stack()[3].get<Scalar>()));
}

/// searchsorted(sorted_sequence, self, ..., sorter): rows of values are searched in rows of
/// sequences, or all values in one sequence.
void searchsorted(BatchedCall& call) {
  const Tensor sequence = tensor_at(call, 0);
  const Tensor values = tensor_at(call, 1);
  const Value sorter = call.stack()[5];
  if (sequence.dim() == 0) return one_by_one(call);

  const bool is_one_sequence =
      sequence.dim() == 1 && !call.is_batched(sequence) && !call.is_batched(sorter);
  if (is_one_sequence) {
    call.stack()[1] = Value(call.inside(values));
    return call.run();
  }

  call.change_tensors([&](const Tensor& tensor) { return call.members(tensor); });
  if (sequence.dim() > 1) return call.run();

  const Tensor& members = tensor_at(call, 1);
  const DimVector sizes(members.sizes());
  call.stack()[1] = Value(at::reshape(members, {call.size(), values.numel()}));
  call.entry().call_boxed(call.stack());
  call.finish(at::reshape(tensor_at(call, 0), sizes));
}

/// isin(elements, test_elements): element by element in a set that the members share.
void isin(BatchedCall& call) {
  if (call.is_batched(tensor_at(call, 1))) return one_by_one(call);
  call.stack()[0] = Value(call.inside(tensor_at(call, 0)));
  call.run();
}

const OwnRule rules[] = {
    {ops::index_select::entry, &index_select},
    {ops::index_add::entry, &index_add},
    {ops::index_add_::entry, &index_add},
    {ops::index_copy::entry, &index_copy},
    {ops::index_copy_::entry, &index_copy},
    {ops::index_fill_int_Scalar::entry, &index_fill},
    {ops::index_fill__int_Scalar::entry, &index_fill},
    {ops::searchsorted_Tensor::entry, &searchsorted},
    {ops::isin_Tensor_Tensor::entry, &isin},
};

}  // namespace

}  // namespace at::transforms
