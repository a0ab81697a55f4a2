// Sums, means and hash_tensor: compositions and gradients.
#include "aten/native/declarations/reduction/Sum.h"
#include "aten/native/shared/KeptDims.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/_nansum.h"
#include "aten/ops/_xor.h"
#include "aten/ops/detach.h"
#include "aten/ops/expand.h"
#include "aten/ops/isnan.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/nansum.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/view.h"
#include "aten/ops/where.h"

namespace at::native {

Tensor hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  TORCH_CHECK(self.numel() > 0 || !dim.empty(),
              "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
              "the reduction dim with the 'dim' argument.");

  const ScalarType type = self.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && !c10::is_storage_only(type),
                              "\"hash_tensor\" not implemented for '", scalar_type_name(type), "'");

  // The hash is the exclusive or of the elements as 64-bit patterns.
  const Tensor bits = self.is_floating_point() ? at::view(self.to(kDouble), kLong) : self.to(kLong);
  return at::view(at::_xor(bits, dim, keepdim), kUInt64);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  // To a number sum() sums, which makes int64 of integers and bool.
  if (size.empty() && is_integral(self.scalar_type(), true)) return at::sum(self, IntArrayRef{});
  if (self.sizes() == size) return self;

  // The dimensions to sum over: added ones, and those that have size 1 in the result.
  const int64_t leading = self.dim() - static_cast<int64_t>(size.size());
  bool expandable = leading >= 0;
  DimVector dims;
  for (int64_t d = 0; expandable && d < self.dim(); ++d) {
    const int64_t wanted = d < leading ? 1 : size[d - leading];
    expandable = wanted == 1 || wanted == self.sizes()[d];
    if (d < leading || wanted != self.sizes()[d]) dims.push_back(d);
  }

  TORCH_CHECK(expandable, "size {", size, "} is not expandable to size {", self.sizes(), "}.");

  const bool only_leading = static_cast<int64_t>(dims.size()) == leading;
  const Tensor sums = at::sum(self, dims, !only_leading);
  return only_leading || leading == 0 ? sums : at::reshape(sums, size);
}

Tensor _expand_reduced(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                       bool keepdim) {
  return at::expand(with_kept_dims(grad, sizes, dim, keepdim), sizes);
}

Tensor _mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                      bool keepdim) {
  const int64_t outputs = product_of(kept_sizes(sizes, dim));
  const int64_t count = outputs == 0 ? 1 : product_of(sizes) / outputs;
  return _expand_reduced(grad / Scalar(static_cast<double>(count)), sizes, dim, keepdim);
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
              std::optional<ScalarType> dtype) {
  TORCH_CHECK(!self.is_complex(), "nansum on CPU does not support complex inputs");
  if (is_integral(self.scalar_type(), true)) return at::sum(self, dim, keepdim, dtype);
  if (!dtype.has_value() || is_floating(*dtype)) return at::_nansum(self, dim, keepdim, dtype);
  return at::sum(at::where(at::isnan(self), Scalar(0), self), dim, keepdim, dtype);
}

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "nanmean(): expected input to have floating point or complex dtype but got ",
              self.scalar_type());
  TORCH_CHECK(!dtype.has_value() || is_floating(*dtype) || is_complex(*dtype),
              "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
              "point or complex dtype. Got: ",
              *dtype);

  const Tensor count = at::sum(at::logical_not(at::isnan(at::detach(self))), dim, keepdim);
  return at::nansum(self, dim, keepdim, dtype) / count;
}

}  // namespace at::native
