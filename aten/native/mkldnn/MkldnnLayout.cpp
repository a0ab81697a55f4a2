// Between the strided and the mkldnn layout: Note [The mkldnn layout].
#include "aten/native/declarations/mkldnn/MkldnnLayout.h"
#include "aten/native/mkldnn/Elements.h"

namespace at::native {

Tensor to_mkldnn(const Tensor& self, std::optional<ScalarType> dtype) {
  check_mkldnn_dtype("dense_to_mkldnn expects float, bfloat16, half, uint8, int8 tensor input",
                     self.scalar_type());
  const ScalarType wanted = dtype.value_or(self.scalar_type());
  check_mkldnn_dtype("cpu tensor only can be converted to be a float, bfloat16, half, uint8, int8 "
                     "mkldnn tensor",
                     wanted);
  TORCH_CHECK(self.is_cpu(), "dense_to_mkldnn expects CPU tensor input, got ", self.device());
  TORCH_CHECK(self.dim() <= 5, "Can't convert cpu tensor with the number of dimensions > 5");
  TORCH_CHECK(self.dim() > 0, "to_mkldnn: a tensor without dimensions has no mkldnn layout");
  return mkldnn_copy_of(self, wanted);
}

Tensor strided_copy_mkldnn(const Tensor& self, std::optional<ScalarType> dtype) {
  const ScalarType wanted = dtype.value_or(self.scalar_type());
  const Tensor copy = empty_tensor(self.sizes(), wanted, self.device());
  return copy.copy_(elements_of_mkldnn(self)).as_new();
}

Tensor reshaped_copy_mkldnn(const Tensor& self, IntArrayRef shape) {
  // Rows of a strided copy are in the order of the new shape.
  const Tensor elements = strided_copy_mkldnn(self, std::nullopt);
  return mkldnn_copy_of(elements.reshape(shape), self.scalar_type());
}

Tensor reorder_conv2d_weight_mkldnn(const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef,
                                    int64_t, OptionalIntArrayRef) {
  TORCH_CHECK(self.dim() == 4, "mkldnn_reorder_conv2d_weight: expected a weight of 4 dimensions, ",
              "got size ", self.sizes());
  return mkldnn_copy_of(elements_of_mkldnn(self), self.scalar_type());
}

Tensor reorder_conv3d_weight_mkldnn(const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef,
                                    int64_t, OptionalIntArrayRef) {
  TORCH_CHECK(self.dim() == 5, "mkldnn_reorder_conv3d_weight: expected a weight of 5 dimensions, ",
              "got size ", self.sizes());
  return mkldnn_copy_of(elements_of_mkldnn(self), self.scalar_type());
}

}  // namespace at::native
