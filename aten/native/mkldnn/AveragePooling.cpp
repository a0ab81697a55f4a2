// Average pooling of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/AveragePooling.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_avg_pool_backward.h"

namespace at::native {

Tensor avg_pool_mkldnn(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                       IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                       std::optional<int64_t> divisor_override) {
  return mkldnn_from(at::_avg_pool(elements_of_mkldnn(self), kernel_size, stride, padding,
                                   ceil_mode, count_include_pad, divisor_override));
}

Tensor avg_pool_backward_mkldnn(const Tensor& grad_output, IntArrayRef sizes,
                                IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                bool ceil_mode, bool count_include_pad,
                                std::optional<int64_t> divisor_override) {
  return mkldnn_from(at::_avg_pool_backward(elements_of_mkldnn(grad_output), sizes, kernel_size,
                                            stride, padding, ceil_mode, count_include_pad,
                                            divisor_override));
}

Tensor adaptive_avg_pool2d_mkldnn(const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(self.dim() == 4, "mkldnn_adaptive_avg_pool2d: Expect 2D input, got size ",
              self.sizes());

  // Windows of one size that do not overlap.
  DimVector kernel(2);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t size = self.sizes()[d + 2];
    TORCH_CHECK(output_size[d] > 0 && size % output_size[d] == 0,
                "input size is not divisible by the output size is not supported yet, got ",
                self.sizes(), " and ", output_size);
    kernel[d] = size / output_size[d];
  }
  return at::_avg_pool(self, kernel, kernel, {0, 0}, false, true, std::nullopt);
}

}  // namespace at::native
