// scatter_reduce and index_reduce, which reduce the values that indices send to one place, and the
// gradients of what is scattered.
#include <algorithm>
#include <limits>

#include "aten/dispatch/Outputs.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/declarations/indexing/ScatterReduce.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/ScatterChecks.h"
#include "aten/ops/_scatter_reduce.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/floor_divide.h"
#include "aten/ops/full.h"
#include "aten/ops/gather.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter.h"
#include "aten/ops/scatter_add.h"
#include "aten/ops/scatter_reduce.h"
#include "aten/ops/to.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

bool is_reduced(ScalarType type) { return type == kHalf || type == kBFloat16; }

/// The value a reduction starts from where the element of `self` does not take part.
Scalar identity_of(std::string_view reduce, ScalarType type) {
  if (reduce == "sum" || reduce == "mean") return Scalar(0);
  if (reduce == "prod") return Scalar(1);

  // amax starts from the lowest value of the dtype, amin from the highest.
  const bool lowest = reduce == "amax";
  switch (type) {
    case kBool: return Scalar(!lowest);
    case kByte: return Scalar(lowest ? 0 : 255);
    case kChar: return Scalar(lowest ? -128 : 127);
    case kShort: return Scalar(lowest ? -32768 : 32767);
    case kInt:
      return Scalar(static_cast<int64_t>(lowest ? std::numeric_limits<int32_t>::min()
                                                : std::numeric_limits<int32_t>::max()));
    case kLong:
      return Scalar(lowest ? std::numeric_limits<int64_t>::min()
                           : std::numeric_limits<int64_t>::max());
    default:
      return Scalar(lowest ? -std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::infinity());
  }
}

/// The number of elements in each mean, or 1 where there are 0, so that dividing by it is safe.
Tensor mean_counts(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                   bool include_self) {
  const Tensor start = include_self ? at::ones_like(self) : at::zeros_like(self);
  const Tensor counts = at::scatter_add(start, dim, index, at::ones_like(src));
  return at::masked_fill(counts, at::eq(counts, Scalar(0)), Scalar(1));
}

/// The part of src that has an index: index may be smaller than src.
Tensor indexed_part(const Tensor& src, const Tensor& index) {
  Tensor part = src;
  for (int64_t d = 0; d < std::min(src.dim(), index.dim()); ++d)
    part = at::narrow(part, d, 0, index.sizes()[d]);
  return part;
}

/// Gradients with respect to self and to the elements of src that have an index.
using Gradients = std::pair<Tensor, Tensor>;

/// The derivative of a product by one factor is the product of the others: the result divided by
/// the factor, or computed anew where the factor is the only zero. It is zero if there are
/// two or more zeros.
Gradients product_gradients(const Tensor& grad, const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& src, bool include_self,
                            const Tensor& result) {
  // For self: zeros become 1, so that dividing by self leaves the product of the other factors.
  const Tensor self_zero = at::eq(self, Scalar(0));
  const Tensor safe_self = at::masked_fill(self, self_zero, Scalar(1));
  const Tensor others = at::scatter_reduce(safe_self, dim, index, src, "prod", include_self);
  const Tensor to_self = grad * at::conj(others / safe_self);

  // For src: which of its elements are the only zero of their product.
  const Tensor src_zero = at::eq(src, Scalar(0));
  const Tensor zeros_in_self =
      include_self ? self_zero.to(self.scalar_type()) : at::zeros_like(self);
  const Tensor zeros_in_product =
      at::scatter_add(zeros_in_self, dim, index, src_zero.to(self.scalar_type()));
  const Tensor zero_count = at::gather(zeros_in_product, dim, index);
  const Tensor only_zero = at::logical_and(src_zero, at::eq(zero_count, Scalar(1)));

  const Tensor without = at::scatter_reduce(
      self, dim, index, at::masked_fill(src, only_zero, Scalar(1)), "prod", include_self);
  const Tensor at_zero = at::gather(grad * at::conj(without), dim, index);
  const Tensor elsewhere = at::gather(grad * at::conj(result), dim, index) /
                           at::conj(at::masked_fill(src, src_zero, Scalar(1)));

  return {to_self, at::where(only_zero, at_zero, elsewhere)};
}

/// Elements that equal the extremum share its gradient in equal parts.
Gradients extremum_gradients(const Tensor& grad, const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& src, bool include_self,
                             const Tensor& result) {
  // 1 for elements that equal the extremum, else 0.
  const Tensor equal = at::eq(self, result).to(grad.scalar_type());
  const Tensor from_self = include_self ? equal : at::scatter(equal, dim, index, Scalar(0));
  const Tensor from_src = at::eq(src, at::gather(result, dim, index)).to(grad.scalar_type());

  const Tensor count = at::scatter_add(from_self, dim, index, from_src);
  const Tensor share = grad / at::masked_fill(count, at::eq(count, Scalar(0)), Scalar(1));
  return {from_self * share, from_src * at::gather(share, dim, index)};
}

/// Pads the gradient of indexed_part with zeros to the sizes of src.
Tensor as_whole(const Tensor& part, IntArrayRef sizes) {
  if (part.sizes() == sizes) return part;

  DimVector pad;
  for (int64_t d = part.dim() - 1; d >= 0; --d) pad.append({0, sizes[d] - part.sizes()[d]});
  return at::constant_pad_nd(part, pad);
}

/// Checks the arguments of index_reduce and returns the index in the shape of source, as
/// scatter_reduce takes it.
Tensor slice_index(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t extent = self.dim() == 0 ? 1 : self.sizes()[d];
  const int64_t length = source.dim() == 0 ? 1 : source.size(d);
  TORCH_CHECK(same_slices(self, source, d),
              "index_reduce_(): source tensor shape must match self tensor shape, excluding the "
              "specified dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  TORCH_CHECK(index.numel() == length, "index_reduce_(): Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", length, "), for dim: ", dim);

  if (const Tensor given = readable(index); has_elements(given)) {
    const Tensor positions = at::to(given, kCPU, kLong).contiguous();
    const int64_t* position = positions.data_ptr<int64_t>();
    TORCH_CHECK_INDEX(std::all_of(position, position + positions.numel(),
                                  [extent](int64_t p) { return p >= 0 && p < extent; }),
                      "index_reduce_(): index out of range in self, which has size ", extent,
                      " at dimension ", d);
  }

  DimVector shape(source.dim(), 1);
  if (source.dim() > 0) shape[d] = index.numel();
  return at::expand(at::reshape(index, shape), source.sizes());
}

}  // namespace

void scatter_reduce_meta(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view) {
  check_scatter_sizes(self, wrap_dim(dim, self.dim()), index, src);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  if (is_reduced(self.scalar_type())) {
    return native::scatter_reduce(self.to(kFloat), dim, index, src.to(kFloat), reduce, include_self)
        .to(self.scalar_type());
  }

  Tensor result = include_self
                      ? at::clone(self, MemoryFormat::Contiguous)
                      : at::scatter(self, dim, index, identity_of(reduce, self.scalar_type()));
  at::_scatter_reduce_(result, dim, index, src, reduce == "mean" ? "sum" : reduce);
  if (reduce != "mean") return result;

  const Tensor counts = mean_counts(self, dim, index, src, include_self);
  return is_integral(self.scalar_type(), false) ? at::floor_divide(result, counts)
                                                : result / counts;
}

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     std::string_view reduce, bool include_self) {
  // In place only where no memory is shared and the result needs no further step.
  const bool apart = memory_overlap(self, src) == Overlap::No &&
                     memory_overlap(self, index) == Overlap::No && !has_internal_overlap(self);
  if (apart && include_self && reduce != "mean" && !is_reduced(self.scalar_type())) {
    at::_scatter_reduce_(self, dim, index, src, reduce);
  } else {
    copy_to_self("scatter_reduce_", self,
                 native::scatter_reduce(self, dim, index, src, reduce, include_self));
  }
}

Tensor _scatter_source_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim,
                                const Tensor& index) {
  return as_whole(at::gather(grad, dim, index), sizes);
}

std::tuple<Tensor, Tensor> _scatter_reduce_backward(const Tensor& grad, const Tensor& self,
                                                    int64_t dim, const Tensor& index,
                                                    const Tensor& src, std::string_view reduce,
                                                    bool include_self, const Tensor& result) {
  if (index.numel() == 0) return {grad, at::zeros_like(src)};

  const Tensor used = indexed_part(src, index);
  Gradients gradients;
  if (reduce == "sum") {
    gradients = {grad, at::gather(grad, dim, index)};
  } else if (reduce == "mean") {
    const Tensor share = grad / mean_counts(self, dim, index, used, include_self);
    gradients = {share, at::gather(share, dim, index)};
  } else if (reduce == "prod") {
    gradients = product_gradients(grad, self, dim, index, used, include_self, result);
  } else {
    gradients = extremum_gradients(grad, self, dim, index, used, include_self, result);
  }

  const Tensor to_self =
      include_self ? gradients.first : at::scatter(gradients.first, dim, index, Scalar(0));
  return {to_self, as_whole(gradients.second, src.sizes())};
}

Tensor scatter_reducing(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce) {
  return reduce == "add" ? at::scatter_add(self, dim, index, src)
                         : at::scatter_reduce(self, dim, index, src, "prod");
}

Tensor scatter_value_reducing(const Tensor& self, int64_t dim, const Tensor& index,
                              const Scalar& value, std::string_view reduce) {
  return scatter_reducing(
      self, dim, index,
      at::full(index.sizes(), value, self.scalar_type(), std::nullopt, self.device()), reduce);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  return at::scatter_reduce(self, dim, slice_index(self, dim, index, source), source, reduce,
                            include_self);
}

void index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                   std::string_view reduce, bool include_self) {
  at::scatter_reduce_(self, dim, slice_index(self, dim, index, source), source, reduce,
                      include_self);
}

}  // namespace at::native
