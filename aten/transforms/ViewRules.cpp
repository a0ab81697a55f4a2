// Views whose sizes or order of dimensions are told: the batch is told with them.
#include "aten/ops/alias.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/diagonal_scatter.h"
#include "aten/ops/expand.h"
#include "aten/ops/permute.h"
#include "aten/ops/select_scatter.h"
#include "aten/ops/slice_scatter.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/t.h"
#include "aten/ops/transpose.h"
#include "aten/ops/view.h"
#include "aten/transforms/BatchedCall.h"
#include "c10/util/Exception.h"

namespace at::transforms {

namespace {

DimVector after_batch(int64_t size, IntArrayRef sizes) {
  DimVector all{size};
  for (const int64_t each : sizes) all.push_back(each);
  return all;
}

/// Sizes with the one that is -1 worked out for a member: the batch may be empty.
DimVector inferred(const Tensor& member, DimVector sizes) {
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1) unknown = &size;
    else known *= size;
  }
  if (unknown != nullptr && known > 0 && member.numel() % known == 0)
    *unknown = member.numel() / known;
  return sizes;
}

void view_sizes(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  const DimVector sizes = inferred(self, call.stack()[1].get<DimVector>());
  call.finish(at::view(call.inside(self), after_batch(call.size(), sizes)));
}

void expand(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  const DimVector& sizes = call.stack()[1].get<DimVector>();
  const auto rank = static_cast<int64_t>(sizes.size());
  TORCH_CHECK(rank >= self.dim(), "expand(", self.scalar_type(), "{", self.sizes(),
              "}, size=", sizes, "): the number of sizes provided (", rank,
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ")");
  Tensor value = call.inside(self);
  for (int64_t d = self.dim(); d < rank; ++d) value = value.unsqueeze(1);
  call.finish(at::expand(value, after_batch(call.size(), sizes)));
}

void permute(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  DimVector order{0};
  for (const int64_t dim : call.stack()[1].get<DimVector>())
    order.push_back(wrap_dim(dim, self.dim()) + 1);
  call.finish(at::permute(call.inside(self), order));
}

void squeeze(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.sizes()[static_cast<size_t>(d)] == 1) dims.push_back(d + 1);
  call.finish(at::squeeze(call.inside(self), dims));
}

void transposed_matrix(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  TORCH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
  const Tensor& value = call.inside(self);
  call.finish(self.dim() < 2 ? at::alias(value) : at::transpose(value, 1, 2));
}

void as_strided(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  const Tensor& value = call.inside(self);
  const DimVector sizes = after_batch(call.size(), call.stack()[1].get<DimVector>());
  const DimVector strides = after_batch(value.strides()[0], call.stack()[2].get<DimVector>());
  const Value& offset = call.stack()[3];
  call.finish(at::as_strided(value, sizes, strides,
                             offset.is_none() ? value.storage_offset() : offset.get<int64_t>()));
}

/// select_scatter and the like, whose dimensions are those of self: src has others.
void scatter_view(BatchedCall& call) {
  const int64_t rank = call.stack()[0].get<Tensor>().dim();
  if (rank == 0 || !shift_dimensions(call, rank)) return one_by_one(call);
  call.change_tensors([&](const Tensor& tensor) { return call.members(tensor); });
  call.run();
}

/// squeeze_() and t_(), which name no dimension.
template <Rule rule>
void in_place(BatchedCall& call) {
  const Tensor self = call.stack()[0].get<Tensor>();
  rule(call);
  as_wrapped(self)->set_value(as_wrapped(call.stack()[0].get<Tensor>())->value());
  call.stack().assign(1, Value(self));
}

const OwnRule rules[] = {
    {ops::view::entry, &view_sizes},
    {ops::expand::entry, &expand},
    {ops::permute::entry, &permute},
    {ops::squeeze::entry, &squeeze},
    {ops::squeeze_::entry, &in_place<&squeeze>},
    {ops::t::entry, &transposed_matrix},
    {ops::t_::entry, &in_place<&transposed_matrix>},
    {ops::as_strided::entry, &as_strided},
    {ops::select_scatter::entry, &scatter_view},
    {ops::slice_scatter::entry, &scatter_view},
    {ops::diagonal_scatter::entry, &scatter_view},
};

}  // namespace

}  // namespace at::transforms
