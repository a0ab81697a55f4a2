// The sigmoid, and its gradient, of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Exponential.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/sigmoid.h"
#include "aten/ops/sigmoid_backward.h"

namespace at::native {

Tensor sigmoid_mkldnn(const Tensor& self) {
  return mkldnn_from(at::sigmoid(elements_of_mkldnn(self)));
}

Tensor sigmoid_backward_mkldnn(const Tensor& grad_output, const Tensor& output) {
  return mkldnn_from(
      at::sigmoid_backward(elements_of_mkldnn(grad_output), elements_of_mkldnn(output)));
}

}  // namespace at::native
