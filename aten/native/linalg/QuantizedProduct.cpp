// Products of matrices of 8 bits: shape rules.
#include "aten/native/declarations/linalg/QuantizedProduct.h"
#include "aten/native/shared/ProductChecks.h"

namespace at::native {

TensorSpec int_mm_shape(const Tensor& self, const Tensor& mat2) {
  check_same_device("_int_mm", self, mat2);
  return {{self.sizes()[0], mat2.sizes()[1]}, kInt, self.device()};
}

TensorSpec weight_int8pack_mm_shape(const Tensor& self, const Tensor& mat2, const Tensor& scales) {
  check_same_device("_weight_int8pack_mm", self, mat2);
  check_same_device("_weight_int8pack_mm", self, scales);
  return {{self.sizes()[0], mat2.sizes()[0]}, self.scalar_type(), self.device()};
}

}  // namespace at::native
