// The hyperbolic tangent of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Trigonometric.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/tanh.h"

namespace at::native {

Tensor tanh_mkldnn(const Tensor& self) { return mkldnn_from(at::tanh(elements_of_mkldnn(self))); }

}  // namespace at::native
