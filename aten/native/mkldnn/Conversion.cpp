// Conversions of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Conversion.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_mkldnn_to_dense.h"

namespace at::native {

Tensor to_dense_mkldnn(const Tensor& self, std::optional<ScalarType> dtype,
                       std::optional<bool> /*masked_grad: for sparse tensors*/) {
  return at::_mkldnn_to_dense(self, dtype);
}

}  // namespace at::native
