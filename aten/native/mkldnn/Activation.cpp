// Activations of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Activation.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/_prelu_kernel.h"
#include "aten/ops/_threshold_backward.h"
#include "aten/ops/relu.h"

namespace at::native {

Tensor relu_mkldnn(const Tensor& self) { return mkldnn_from(at::relu(elements_of_mkldnn(self))); }

Tensor threshold_backward_mkldnn(const Tensor& grad_output, const Tensor& result) {
  return mkldnn_from(
      at::_threshold_backward(elements_of_mkldnn(grad_output), elements_of_mkldnn(result)));
}

Tensor prelu_mkldnn(const Tensor& self, const Tensor& weight) {
  return mkldnn_from(at::_prelu_kernel(elements_of_mkldnn(self), strided_elements(weight)));
}

Tensor gelu_mkldnn(const Tensor& self) {
  return mkldnn_from(at::_gelu_exact(elements_of_mkldnn(self)));
}

}  // namespace at::native
