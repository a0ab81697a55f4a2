// where, and reading and writing by a mask: masked_fill, masked_select and masked_scatter.
#include <vector>

#include "aten/core/Warning.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/declarations/indexing/Masking.h"
#include "aten/native/indexing/Masking.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/DtypeChecks.h"
#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/_masked_fill.h"
#include "aten/ops/any.h"
#include "aten/ops/clone.h"
#include "aten/ops/expand.h"
#include "aten/ops/index.h"
#include "aten/ops/index_put.h"
#include "aten/ops/index_select.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/nonzero.h"
#include "aten/ops/nonzero_numpy.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

/// 0-dimensional CPU tensors count as numbers, which combine with tensors of every device.
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

/// `number` as an operand of where, checked to fit the common dtype with `tensor`. float16 and
/// bfloat16 accept what float32 holds.
Tensor choice(const Scalar& number, const Tensor& tensor) {
  const Tensor wrapped = wrapped_scalar(number);
  const Tensor values[] = {tensor, wrapped};
  const ScalarType type = result_type(TensorList(values, 2));
  c10::check_representable(number, type == kHalf || type == kBFloat16 ? kFloat : type);
  return wrapped;
}

}  // namespace

void fill_masked(const char* op, const Tensor& self, const Tensor& mask, const Scalar& value) {
  Tensor target = self;
  Tensor chosen = mask;

  if (has_internal_overlap(self)) {
    warn("Use of ", op,
         " on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. "
         "This also applies to advanced indexing e.g. tensor[mask] = scalar");

    // One element represents all that share its memory, and is chosen if any of them is.
    chosen = at::expand(mask, self.sizes());
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (self.strides()[d] != 0 || self.sizes()[d] < 2) continue;
      target = at::narrow(target, d, 0, 1);
      chosen = at::any(chosen, d, true);
    }
  }

  at::_masked_fill_(target, chosen, value);
}

void masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  TORCH_CHECK(self.sizes() == IntArrayRef(shape), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", IntArrayRef(shape), " in masked_fill_");
  c10::check_representable(value, self.scalar_type());
  fill_masked("masked_fill_", self, mask, value);
}

TensorSpec masked_fill_shape(const Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(self.device() == mask.device() || self.is_meta() ||
                  (mask.dim() == 0 && mask.is_cpu()),
              "masked_fill: expected self and mask to be on the same device, but got mask on ",
              mask.device(), " and self on ", self.device());
  c10::check_representable(value, self.scalar_type());
  return {broadcast_sizes(self.sizes(), mask.sizes()), self.scalar_type(), self.device()};
}

Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (self.is_meta()) return at::masked_fill(self, mask, Scalar(0));
  if (!has_elements(value)) {
    const Tensor kept = at::masked_fill(self, mask, Scalar(0));  // which has the right layout
    return at::where(mask, value.to(self.scalar_type()), kept);
  }
  if (!value.requires_grad()) return at::masked_fill(self, mask, value.item());

  // Arithmetic that passes the gradient on to value.
  const Tensor kept = at::masked_fill(self, mask, Scalar(0));
  return kept + mask.to(self.scalar_type()) * value.to(self.scalar_type());
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  if (shape.empty()) return at::index(at::reshape(self, {1}), {at::reshape(mask, {1})});
  if (self.is_meta() || mask.is_meta())
    return at::index(at::expand(self, shape), {at::expand(mask, shape)});

  // Flattened, so that a single number gives the position of an element.
  const Tensor places = at::nonzero(at::reshape(at::expand(mask, shape), {-1}));
  return at::index_select(at::reshape(at::expand(self, shape), {-1}), 0, at::reshape(places, {-1}));
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_same_dtype("masked_scatter", "source", self, source);

  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  if (self.is_meta()) return at::clone(at::expand(self, shape), MemoryFormat::Contiguous);

  const Tensor full_mask = at::reshape(at::expand(mask, shape), {-1});
  const int64_t count = at::sum(full_mask).item<int64_t>();
  TORCH_CHECK(
      count <= source.numel(),
      "masked_scatter: expected self and source to have same number of elements: the mask selects ",
      count, ", source has ", source.numel());

  Tensor result = at::clone(at::expand(self, shape), MemoryFormat::Contiguous);
  at::index_put_(at::reshape(result, {-1}), {full_mask},
                 at::narrow(at::reshape(source, {-1}), 0, 0, count));
  return result;
}

TensorSpec where_shape(const Tensor& condition, const Tensor& self, const Tensor& other) {
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
