// Running extrema and running log-sum-exp: shape rules.
#include "aten/native/declarations/reduction/Scan.h"

namespace at::native {

std::tuple<TensorSpec, TensorSpec> running_extremum_shape(const Tensor& self, int64_t dim) {
  // Tensors without elements take any dimension, as they do in PyTorch.
  if (self.numel() > 0) wrap_dim(dim, self.dim());
  const DimVector sizes(self.sizes());
  return {{sizes, self.scalar_type(), self.device()}, {sizes, kLong, self.device()}};
}

TensorSpec logcumsumexp_shape(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

TensorSpec exponential_weights_shape(const Tensor& grad_output, const Tensor& self,
                                     const Tensor& output, int64_t) {
  for (const Tensor& tensor : {grad_output, output}) {
    TORCH_CHECK(tensor.sizes() == self.sizes() && tensor.device() == self.device() &&
                    tensor.scalar_type() == self.scalar_type(),
                "gradient of logcumsumexp: expected tensors of ", self.sizes(), ", ",
                self.scalar_type(), " on ", self.device(), ", got ", tensor.sizes(), ", ",
                tensor.scalar_type(), " on ", tensor.device());
  }
  return {DimVector(self.sizes()), grad_output.scalar_type(), self.device()};
}

}  // namespace at::native
