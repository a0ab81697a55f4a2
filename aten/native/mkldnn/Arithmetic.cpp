// Sums and products of tensors with the mkldnn layout, which do not broadcast.
#include "aten/native/declarations/mkldnn/Arithmetic.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/add.h"
#include "aten/ops/mul.h"

namespace at::native {

Tensor add_mkldnn(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const Tensor left = elements_of_mkldnn(self);
  const Tensor right = elements_of_mkldnn(other);
  TORCH_CHECK(left.sizes() == right.sizes(),
              "mkldnn_add: currently mkldnn not support broadcasting, got ", left.sizes(), " and ",
              right.sizes());
  return mkldnn_from(at::add(left, right, alpha));
}

Tensor mul_mkldnn(const Tensor& self, const Tensor& other) {
  // A number may be on either side; it is a strided tensor without dimensions.
  if (self.is_wrapped_number()) return mkldnn_from(at::mul(elements_of_mkldnn(other), self));
  if (other.is_wrapped_number()) return mkldnn_from(at::mul(elements_of_mkldnn(self), other));

  const Tensor left = elements_of_mkldnn(self);
  const Tensor right = elements_of_mkldnn(other);
  TORCH_CHECK(left.sizes() == right.sizes(),
              "mkldnn_mul_out: currently mkldnn not support broadcasting, got ", left.sizes(),
              " and ", right.sizes());
  return mkldnn_from(at::mul(left, right));
}

}  // namespace at::native
