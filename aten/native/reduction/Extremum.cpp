// The largest and smallest elements and their positions: shape rules, variants and gradients.
#include "aten/native/declarations/reduction/Extremum.h"
#include "aten/iteration/ReductionPlan.h"
#include "aten/native/shared/KeptDims.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/eq.h"
#include "aten/ops/logical_or.h"
#include "aten/ops/maximum.h"
#include "aten/ops/minimum.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/scatter.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

void check_reducible(const Tensor& self, std::optional<int64_t> dim) {
  if (self.numel() > 0) return;
  TORCH_CHECK_INDEX(
      dim.has_value(),
      "argmax(), argmin(): Expected reduction dim to be specified for input.numel() == 0.");

  const int64_t d = wrap_dim(*dim, self.dim());
  TORCH_CHECK_INDEX(self.sizes()[d] != 0,
                    "max(), min(), argmax(), argmin(): Expected reduction dim ", d,
                    " to have non-zero size.");
}

TensorSpec index_shape(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_reducible(self, dim);
  const DimVector sizes = dim.has_value() ? reduced_sizes(self, IntArrayRef(&*dim, 1), keepdim)
                                          : reduced_sizes(self, std::nullopt, keepdim);
  return {sizes, kLong, self.device()};
}

TensorSpec argument_shape(const char* op, const Tensor& self, std::optional<int64_t> dim,
                          bool keepdim) {
  TORCH_CHECK(self.scalar_type() != kBool, op, "(): does not support bool input");
  TORCH_CHECK(!self.is_complex(), op, "(): does not support complex input");
  return index_shape(self, dim, keepdim);
}

}  // namespace

TensorSpec argmax_shape(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return argument_shape("argmax", self, dim, keepdim);
}

TensorSpec argmin_shape(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return argument_shape("argmin", self, dim, keepdim);
}

std::tuple<TensorSpec, TensorSpec> values_indices_shape(const Tensor& self, int64_t dim,
                                                        bool keepdim) {
  const TensorSpec indices = index_shape(self, dim, keepdim);
  TensorSpec values = indices;
  values.dtype = self.scalar_type();
  return {values, indices};
}

Tensor max_all(const Tensor& self) { return at::amax(self); }
Tensor min_all(const Tensor& self) { return at::amin(self); }
Tensor max_other(const Tensor& self, const Tensor& other) { return at::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return at::minimum(self, other); }

Tensor _extremum_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                          IntArrayRef dim, bool keepdim) {
  const Tensor extremum = with_kept_dims(result, self.sizes(), dim, keepdim);
  Tensor chosen = at::eq(self, extremum);

  // Over all elements, several nan share the gradient of a nan as equal elements share that of a
  // number.
  if (dim.empty()) chosen = at::logical_or(chosen, at::ne(self, self));

  // Nothing equals a nan extremum: its count stays 0 and the gradient is nan. A number that equals
  // no element, because self was overwritten without autograd's knowledge, gets the gradient 0.
  const Tensor count = dim.empty()
                           ? at::maximum(at::sum(chosen), at::eq(extremum, extremum))
                           : at::maximum(at::sum(chosen, dim, true), at::eq(extremum, extremum));

  return with_kept_dims(grad, self.sizes(), dim, keepdim) / count * chosen;
}

Tensor _row_extremum(const Tensor& self, OptionalIntArrayRef dim, bool largest) {
  const IntArrayRef dims = dim.value_or(IntArrayRef());
  return largest ? at::amax(self, dims, true) : at::amin(self, dims, true);
}

Tensor _select_by_index_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim,
                                 const Tensor& indices, bool keepdim) {
  if (sizes.empty()) return grad;

  // Each gradient goes to the element that was selected; the others get zero.
  const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  const Tensor source = keepdim ? grad : at::unsqueeze(grad, d);
  const Tensor index = keepdim ? indices : at::unsqueeze(indices, d);
  return at::scatter(at::new_zeros(grad, sizes), d, index, source);
}

Pair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim.has_value()) {
    const int64_t d = wrap_dim(*dim, self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, "aminmax: Expected reduction dim ",
                      d, " to have non-zero size.");
    return {at::amin(self, d, keepdim), at::amax(self, d, keepdim)};
  }

  TORCH_CHECK(self.numel() > 0, "aminmax(): cannot compute aminmax over an empty dimension as the "
                                "operation has no identity.");
  return {at::amin(self, {}, keepdim), at::amax(self, {}, keepdim)};
}

}  // namespace at::native
