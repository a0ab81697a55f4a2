// searchsorted and bucketize: the shape rule, argument checks, and the overloads for numbers.
#include <limits>

#include "aten/native/declarations/indexing/Searching.h"
#include "aten/ops/scalar_tensor.h"
#include "aten/ops/searchsorted.h"

namespace at::native {

namespace {

constexpr const char* kName = "torch.searchsorted(): ";

void check_shapes(const Tensor& sequence, const Tensor& self) {
  TORCH_CHECK(sequence.dim() != 0, kName,
              "boundaries tensor should have positive dimension, but got 0 dimension");
  TORCH_CHECK(self.dim() > 0 || sequence.dim() == 1, kName,
              "input value can be a scalar only when boundaries tensor dimension is 1, but we got "
              "boundaries tensor dim(",
              sequence.dim(), ") and input value's dim(", self.dim(), ") numel(", self.numel(),
              ")");

  const auto leading = [](const Tensor& tensor) {
    return tensor.sizes().slice(0, static_cast<size_t>(tensor.dim() - 1));
  };
  TORCH_CHECK(sequence.dim() == 1 ||
                  (sequence.dim() == self.dim() && leading(sequence) == leading(self)),
              kName,
              "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
              "tensor and input value tensor must match, "
              "but we got boundaries tensor {",
              sequence.sizes(), "} and input value tensor {", self.sizes(), "}");
}

void check_sorter(const Tensor& sequence, const Tensor& sorter) {
  if (!sorter.defined()) return;

  TORCH_CHECK(sorter.device() == sequence.device(), kName,
              "sorter and boundary tensors should have same device type, but got sorter on ",
              sorter.device(), " and boundary on ", sequence.device());
  TORCH_CHECK(sorter.sizes() == sequence.sizes(), kName,
              "boundary and sorter must have the same size, but got boundary tensor {",
              sequence.sizes(), "} and got sorter tensor {", sorter.sizes(), "}");
  TORCH_CHECK(sorter.scalar_type() == kLong, kName,
              "sorter must be a tensor of long dtype but got dtype ", sorter.scalar_type());
}

/// `value` as a tensor of the dtype in which it is compared with the elements of `sequence`.
Tensor number_for(const Tensor& sequence, const Scalar& value) {
  const Tensor operands[] = {wrapped_scalar(value), sequence};
  return at::scalar_tensor(value, result_type(TensorList(operands, 2)), std::nullopt,
                           sequence.device());
}

}  // namespace

TensorSpec searchsorted_shape(const Tensor& sorted_sequence, const Tensor& self, bool out_int32,
                              bool right, std::optional<std::string_view> side,
                              const Tensor& sorter) {
  TORCH_CHECK(!side.has_value() || *side == "left" || *side == "right", kName,
              "side can only be 'left' or 'right' but got ", *side);
  TORCH_CHECK(!side.has_value() || !right || *side == "right", kName,
              "side and right can't be set to opposites, got side of ", *side,
              " while right was True");

  TORCH_CHECK(sorted_sequence.device() == self.device(), kName,
              "boundaries and input value tensors should have same device type, but got boundaries "
              "tensor device type ",
              sorted_sequence.device(), " and input value tensor device type ", self.device());

  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "\"searchsorted\" not implemented for '",
                              self.scalar_type(), "'");
  check_shapes(sorted_sequence, self);
  check_sorter(sorted_sequence, sorter);
  TORCH_CHECK(!out_int32 || sorted_sequence.size(-1) < std::numeric_limits<int32_t>::max(), kName,
              "the size of boundaries' last dimension should be less than ",
              std::numeric_limits<int32_t>::max(), ", but we got ", sorted_sequence.size(-1));

  return {DimVector(self.sizes()), out_int32 ? kInt : kLong, self.device()};
}

Tensor searchsorted_scalar(const Tensor& sorted_sequence, const Scalar& self, bool out_int32,
                           bool right, std::optional<std::string_view> side, const Tensor& sorter) {
  return at::searchsorted(sorted_sequence, number_for(sorted_sequence, self), out_int32, right,
                          side, sorter);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  return at::searchsorted(boundaries, self, out_int32, right);
}

Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize(number_for(boundaries, self), boundaries, out_int32, right);
}

}  // namespace at::native
