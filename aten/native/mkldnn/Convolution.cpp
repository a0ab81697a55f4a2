// Convolutions of tensors with the mkldnn layout; weight and bias have this or the strided layout.
#include "aten/native/declarations/mkldnn/Convolution.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/convolution.h"
#include "aten/ops/convolution_backward.h"

namespace at::native {

Tensor convolution_mkldnn(const Tensor& input, const Tensor& weight, const Tensor& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool transposed, IntArrayRef output_padding, int64_t groups) {
  return mkldnn_from(at::convolution(elements_of_mkldnn(input), strided_elements(weight),
                                     strided_elements(bias), stride, padding, dilation, transposed,
                                     output_padding, groups));
}

std::tuple<Tensor, Tensor, Tensor>
convolution_backward_mkldnn(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                            bool has_bias, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                            int64_t groups) {
  const auto [grad_input, grad_weight, grad_bias] = at::convolution_backward(
      elements_of_mkldnn(grad_output), elements_wanting_grad(input), elements_wanting_grad(weight),
      has_bias, stride, padding, dilation, transposed, output_padding, groups);

  // The engine converts the gradients of parameters that are not strided.
  return {input.requires_grad() ? mkldnn_from(grad_input) : Tensor(), grad_weight, grad_bias};
}

}  // namespace at::native
