// Linear layers over tensors with the mkldnn layout; weight and bias have this or the strided
// layout.
#include "aten/native/declarations/mkldnn/Linear.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_linear_backward_bias.h"
#include "aten/ops/_linear_backward_input.h"
#include "aten/ops/_linear_backward_weight.h"
#include "aten/ops/linear.h"

namespace at::native {

Tensor linear_mkldnn(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return mkldnn_from(
      at::linear(elements_of_mkldnn(input), strided_elements(weight), strided_elements(bias)));
}

Tensor linear_backward_input_mkldnn(const Tensor& grad, const Tensor& weight, IntArrayRef sizes) {
  return mkldnn_from(
      at::_linear_backward_input(elements_of_mkldnn(grad), strided_elements(weight), sizes));
}

// The gradients of weight and bias are strided; the engine converts them for those that are not.

Tensor linear_backward_weight_mkldnn(const Tensor& grad, const Tensor& input, int64_t ndim) {
  return at::_linear_backward_weight(elements_of_mkldnn(grad), elements_of_mkldnn(input), ndim);
}

Tensor linear_backward_bias_mkldnn(const Tensor& grad, int64_t ndim, IntArrayRef sizes) {
  const Tensor elements = elements_of_mkldnn(grad);
  const Tensor result = at::_linear_backward_bias(elements, ndim, sizes);
  return result.is_same(elements) ? result.clone() : result;
}

}  // namespace at::native
