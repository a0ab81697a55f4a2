// Sums, extrema and running results: shapes, variants and derivatives.
#include "aten/native/declarations/reduction/Extremum.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/_xor.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/any.h"
#include "aten/ops/cat.h"
#include "aten/ops/conj.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/flip.h"
#include "aten/ops/item.h"
#include "aten/ops/logical_or.h"
#include "aten/ops/maximum.h"
#include "aten/ops/minimum.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/prod.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

/// Sizes of a result of `sizes` reduced over `dims` (none: all) with keepdim.
DimVector kept_sizes(IntArrayRef sizes, OptionalIntArrayRef dims) {
  DimVector kept(sizes.size(), 1);
  if (!dims.has_value() || dims->empty()) return kept;
  kept = DimVector(sizes);
  for (const int64_t dim : *dims) {
    const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    if (!sizes.empty()) kept[d] = 1;
  }
  return kept;
}

/// A reduced tensor with its reduced dimensions put back, of size 1.
Tensor with_kept_dims(const Tensor& reduced, IntArrayRef sizes, OptionalIntArrayRef dims,
                      bool keepdim) {
  return keepdim ? reduced : at::reshape(reduced, kept_sizes(sizes, dims));
}

int64_t product(IntArrayRef sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

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

}  // namespace

namespace {

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

TensorSpec cumulative_shape(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  wrap_dim(dim, self.dim());
  const ScalarType type =
      dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
  return {DimVector(self.sizes()), type, self.device()};
}

Tensor prod_all(const Tensor& self, std::optional<ScalarType> dtype) {
  return at::prod(at::reshape(self, {-1}), 0, false, dtype);
}

Tensor max_all(const Tensor& self) { return at::amax(self); }
Tensor min_all(const Tensor& self) { return at::amin(self); }
Tensor max_other(const Tensor& self, const Tensor& other) { return at::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return at::minimum(self, other); }

Tensor count_nonzero_dim(const Tensor& self, IntArrayRef dim) {
  return at::sum(at::ne(self, Scalar(0)), dim);
}
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  const Tensor nonzero = at::ne(self, Scalar(0));
  return dim.has_value() ? at::sum(nonzero, IntArrayRef(&*dim, 1)) : at::sum(nonzero);
}

Tensor hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  TORCH_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  TORCH_CHECK(self.numel() > 0 || !dim.empty(),
              "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
              "the reduction dim with the 'dim' argument.");
  const ScalarType type = self.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && !c10::is_storage_only(type),
                              "\"hash_tensor\" not implemented for '", scalar_type_name(type), "'");
  const Tensor bits = self.is_floating_point() ? at::view(self.to(kDouble), kLong) : self.to(kLong);
  return at::view(at::_xor(bits, dim, keepdim), kUInt64);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  if (self.sizes() == size) return self;
  const int64_t leading = self.dim() - static_cast<int64_t>(size.size());
  bool expandable = leading >= 0;
  DimVector dims;
  for (int64_t d = 0; expandable && d < self.dim(); ++d) {
    const int64_t wanted = d < leading ? 1 : size[d - leading];
    expandable = wanted == 1 || wanted == self.sizes()[d];
    if (d < leading || wanted != self.sizes()[d]) dims.push_back(d);
  }
  TORCH_CHECK(expandable, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  return at::reshape(at::sum(self, dims, true), size);
}

Tensor _expand_reduced(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                       bool keepdim) {
  return at::expand(with_kept_dims(grad, sizes, dim, keepdim), sizes);
}

Tensor _mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                      bool keepdim) {
  const int64_t outputs = product(kept_sizes(sizes, dim));
  const int64_t count = outputs == 0 ? 1 : product(sizes) / outputs;
  return _expand_reduced(grad / Scalar(static_cast<double>(count)), sizes, dim, keepdim);
}

namespace {

/// The product of the elements before each element.
Tensor products_before(const Tensor& self, int64_t dim) {
  const int64_t n = self.sizes()[dim];
  return at::cat({at::ones_like(at::narrow(self, dim, 0, 1)),
                  at::cumprod(at::narrow(self, dim, 0, n - 1), dim)},
                 dim);
}

}  // namespace

Tensor _prod_backward(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  if (self.numel() == 0) return at::zeros_like(self);
  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor values = self.to(grad.scalar_type());
  // Products from both sides rather than result / self: right where elements are zero, too.
  const Tensor before = products_before(values, d);
  const Tensor after = at::flip(products_before(at::flip(values, {d}), d), {d});
  return with_kept_dims(grad, self.sizes(), IntArrayRef(&d, 1), keepdim) *
         conjugate(before * after);
}

Tensor _extremum_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                          IntArrayRef dim, bool keepdim) {
  const Tensor extremum = with_kept_dims(result, self.sizes(), dim, keepdim);
  Tensor chosen = at::eq(self, extremum);
  // A nan is the extremum of all elements wherever one is: those share the gradient, as equal
  // elements do.
  if (dim.empty()) chosen = at::logical_or(chosen, at::ne(self, self));
  // Where nothing is equal: nan, when the extremum is; zero, when self was overwritten behind
  // autograd's back.
  const Tensor count = dim.empty()
                           ? at::maximum(at::sum(chosen), at::eq(extremum, extremum))
                           : at::maximum(at::sum(chosen, dim, true), at::eq(extremum, extremum));
  return with_kept_dims(grad, self.sizes(), dim, keepdim) / count * chosen;
}

Tensor _select_by_index_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim,
                                 const Tensor& indices, bool keepdim) {
  if (sizes.empty()) return grad;
  const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  const Tensor source = keepdim ? grad : at::unsqueeze(grad, d);
  const Tensor index = keepdim ? indices : at::unsqueeze(indices, d);
  return at::scatter(at::new_zeros(grad, sizes), d, index, source);
}

Tensor _reverse_cumsum(const Tensor& grad, int64_t dim) {
  if (grad.dim() == 0) return grad;
  return at::flip(at::cumsum(at::flip(grad, {dim}), dim), {dim});
}

namespace {

/// Needs no division: per element the products without it, so quadratic in the length.
Tensor cumprod_backward_with_zeros(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t n = self.sizes()[dim];
  const Tensor first = at::ones_like(at::narrow(self, dim, 0, 1));
  Tensor before = first;
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) {
    Tensor without = first;
    if (k + 1 < n)
      without = at::cat({first, at::cumprod(at::narrow(self, dim, k + 1, n - k - 1), dim)}, dim);
    const Tensor weighted = at::narrow(grad, dim, k, n - k) * conjugate(before * without);
    parts.push_back(at::sum(weighted, IntArrayRef(&dim, 1), true));
    before = before * at::narrow(self, dim, k, 1);
  }
  return at::cat(parts, dim);
}

}  // namespace

Tensor _cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                         const Tensor& result) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor values = self.to(grad.scalar_type());
  if (!self.is_meta() && at::any(at::eq(values, Scalar(0))).item().to_bool())
    return cumprod_backward_with_zeros(grad, values, d);
  return _reverse_cumsum(grad * conjugate(result), d) / conjugate(values);
}

}  // namespace at::native
