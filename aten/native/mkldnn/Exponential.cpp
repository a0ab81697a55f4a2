// The sigmoid of tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Exponential.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/sigmoid.h"

namespace at::native {

Tensor sigmoid_mkldnn(const Tensor& self) {
  return mkldnn_from(at::sigmoid(elements_of_mkldnn(self)));
}

}  // namespace at::native
