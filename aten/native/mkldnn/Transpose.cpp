// Transposes of tensors with the mkldnn layout, which are copies.
#include "aten/native/declarations/mkldnn/Transpose.h"
#include "aten/native/mkldnn/Elements.h"

namespace at::native {

Tensor transpose_mkldnn(const Tensor& self, int64_t dim0, int64_t dim1) {
  const Tensor transposed = elements_of_mkldnn(self).transpose(dim0, dim1);
  return mkldnn_copy_of(transposed, self.scalar_type());
}

}  // namespace at::native
