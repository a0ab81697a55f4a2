// item: the value of one element, which the host waits for.
#include "aten/core/Tensor.h"
#include "aten/ops/item.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

Scalar item(const Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  return at::item(at::to(self, kCPU));
}

}  // namespace at::native::cuda
