// Activations of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Activation.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/_gelu_exact_backward.h"
#include "aten/ops/_prelu_kernel.h"
#include "aten/ops/_prelu_kernel_backward_self.h"
#include "aten/ops/_prelu_kernel_backward_weight.h"
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

Tensor prelu_backward_self_mkldnn(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& weight) {
  return mkldnn_from(at::_prelu_kernel_backward_self(
      elements_of_mkldnn(grad_output), elements_of_mkldnn(self), strided_elements(weight)));
}

// Strided, because it is summed; the engine converts it for a weight that is not.
Tensor prelu_backward_weight_mkldnn(const Tensor& grad_output, const Tensor& self) {
  return at::_prelu_kernel_backward_weight(elements_of_mkldnn(grad_output),
                                           elements_of_mkldnn(self));
}

Tensor gelu_mkldnn(const Tensor& self) {
  return mkldnn_from(at::_gelu_exact(elements_of_mkldnn(self)));
}

Tensor gelu_backward_mkldnn(const Tensor& grad_output, const Tensor& self) {
  return mkldnn_from(
      at::_gelu_exact_backward(elements_of_mkldnn(grad_output), elements_of_mkldnn(self)));
}

}  // namespace at::native
