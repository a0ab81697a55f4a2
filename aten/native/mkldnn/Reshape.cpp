// Tensors with the mkldnn layout in other shapes.
#include "aten/native/declarations/mkldnn/Reshape.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/_mkldnn_reshape.h"

namespace at::native {

Tensor reshape_mkldnn(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size(shape, self.numel());
  return self.sizes() == IntArrayRef(sizes) ? self : at::_mkldnn_reshape(self, sizes);
}

}  // namespace at::native
