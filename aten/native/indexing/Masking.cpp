// where: choosing between two tensors or numbers.
#include "aten/native/declarations/indexing/Masking.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/nonzero_numpy.h"
#include "aten/ops/where.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

/// A number of no dimension may come from the CPU.
bool is_number_like(const Tensor& tensor) { return tensor.is_cpu() && tensor.dim() == 0; }

Device common_device(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const Tensor* first = &condition;
  for (const Tensor* tensor : {&condition, &self, &other}) {
    if (is_number_like(*tensor)) continue;
    if (is_number_like(*first)) first = tensor;
    TORCH_CHECK(
        tensor->device() == first->device(),
        "where(): Expected all tensors to be on the same device, but found at least two devices, ",
        first->device(), " and ", tensor->device(), "!");
  }
  return first->device();
}

/// `number` as a choice beside `tensor`. A reduced dtype takes what a float holds.
Tensor choice(const Scalar& number, const Tensor& tensor) {
  const Tensor wrapped = wrapped_scalar(number);
  const Tensor values[] = {tensor, wrapped};
  const ScalarType type = result_type(TensorList(values, 2));
  c10::check_representable(number, type == kHalf || type == kBFloat16 ? kFloat : type);
  return wrapped;
}

}  // namespace

TensorSpec where_shape(const Tensor& condition, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ",
              condition.scalar_type());
  const Tensor values[] = {self, other};
  const DimVector sizes =
      broadcast_sizes(condition.sizes(), broadcast_sizes(self.sizes(), other.sizes()));
  return {sizes, result_type(TensorList(values, 2)), common_device(condition, self, other),
          strides_like(sizes, {&condition, &self, &other})};
}

Tensor where_scalar_other(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return at::where(condition, self, choice(other, self));
}

Tensor where_scalar_self(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return at::where(condition, choice(self, other), other);
}

Tensor where_scalars(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return at::where(condition, wrapped_scalar(self), wrapped_scalar(other));
}

std::vector<Tensor> where_nonzero(const Tensor& condition) { return at::nonzero_numpy(condition); }

}  // namespace at::native
