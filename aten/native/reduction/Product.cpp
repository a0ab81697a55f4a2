// The product of all elements, and the gradient of products.
#include "aten/native/declarations/reduction/Product.h"
#include "aten/native/shared/KeptDims.h"
#include "aten/ops/cat.h"
#include "aten/ops/conj.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/flip.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/prod.h"
#include "aten/ops/reshape.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

Tensor conjugate(const Tensor& tensor) { return tensor.is_complex() ? at::conj(tensor) : tensor; }

/// The product of the elements before each element.
Tensor products_before(const Tensor& self, int64_t dim) {
  const int64_t n = self.sizes()[dim];
  return at::cat({at::ones_like(at::narrow(self, dim, 0, 1)),
                  at::cumprod(at::narrow(self, dim, 0, n - 1), dim)},
                 dim);
}

}  // namespace

Tensor prod_all(const Tensor& self, std::optional<ScalarType> dtype) {
  return at::prod(at::reshape(self, {-1}), 0, false, dtype);
}

Tensor _prod_backward(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim) {
  if (self.numel() == 0) return at::zeros_like(self);
  const Tensor values = self.to(grad.scalar_type());
  // The single element does not matter. Graphs of backward depend on it, so that they raise if it
  // was changed in place, as the saved variable does.
  if (self.dim() == 0) return grad * at::ones_like(values);
  const int64_t d = wrap_dim(dim, self.dim());

  // The derivative by an element is the product of those before it and those after it. Unlike
  // result / self this is right for zeros, too.
  const Tensor before = products_before(values, d);
  const Tensor after = at::flip(products_before(at::flip(values, {d}), d), {d});

  return with_kept_dims(grad, self.sizes(), IntArrayRef(&d, 1), keepdim) *
         conjugate(before * after);
}

}  // namespace at::native
