// Max pooling of tensors with the mkldnn layout; indices are strided.
#include "aten/native/declarations/mkldnn/MaxPooling.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_max_pool.h"
#include "aten/ops/_max_pool_backward.h"

namespace at::native {

std::tuple<Tensor, Tensor> max_pool_mkldnn(const Tensor& self, IntArrayRef kernel_size,
                                           IntArrayRef stride, IntArrayRef padding,
                                           IntArrayRef dilation, bool ceil_mode) {
  const auto [values, indices] =
      at::_max_pool(elements_of_mkldnn(self), kernel_size, stride, padding, dilation, ceil_mode);
  return {mkldnn_from(values), indices};
}

Tensor max_pool_backward_mkldnn(const Tensor& grad_output, IntArrayRef sizes, const Tensor& indices,
                                IntArrayRef spatial) {
  return mkldnn_from(
      at::_max_pool_backward(elements_of_mkldnn(grad_output), sizes, indices, spatial));
}

}  // namespace at::native
