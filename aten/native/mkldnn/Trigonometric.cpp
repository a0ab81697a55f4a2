// The hyperbolic tangent, and its gradient, of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Trigonometric.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/tanh.h"
#include "aten/ops/tanh_backward.h"

namespace at::native {

Tensor tanh_mkldnn(const Tensor& self) { return mkldnn_from(at::tanh(elements_of_mkldnn(self))); }

Tensor tanh_backward_mkldnn(const Tensor& grad_output, const Tensor& output) {
  return mkldnn_from(
      at::tanh_backward(elements_of_mkldnn(grad_output), elements_of_mkldnn(output)));
}

}  // namespace at::native
