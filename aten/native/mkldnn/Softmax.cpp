// The softmax, and its gradient, of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Softmax.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_softmax.h"
#include "aten/ops/_softmax_backward_data.h"

namespace at::native {

Tensor softmax_mkldnn(const Tensor& self, int64_t dim, bool half_to_float) {
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported on Mkldnn");
  return mkldnn_from(at::_softmax(elements_of_mkldnn(self), dim, false));
}

Tensor softmax_backward_mkldnn(const Tensor& grad_output, const Tensor& output, int64_t dim,
                               ScalarType input_dtype) {
  return mkldnn_from(at::_softmax_backward_data(elements_of_mkldnn(grad_output),
                                                elements_of_mkldnn(output), dim, input_dtype));
}

}  // namespace at::native
