// Copies of a tensor, and filling it with one value.
#include "aten/native/declarations/creation/Copy.h"
#include "aten/native/shared/CopyChecks.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/expand.h"
#include "aten/ops/fill.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/where.h"

namespace at::native {

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor result =
      at::empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, memory_format);
  return at::copy_(result, self).as_new();
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  TORCH_CHECK(memory_format != MemoryFormat::Preserve,
              "contiguous(): preserve memory format is unsupported by the contiguous operator");
  return self.is_contiguous(memory_format) ? self : at::clone(self, memory_format);
}

Tensor detach(const Tensor& self) {
  auto impl = self.unsafe_impl()->shallow_copy();
  impl->share_version_with(*self.unsafe_impl());
  return Tensor(std::move(impl));
}

Tensor fill_scalar(const Tensor& self, const Scalar& value) {
  return at::fill_(at::clone(self), value).as_new();
}

Tensor fill_with_tensor(const Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return at::where(at::ones_like(self, kBool), value.to(self.scalar_type()), self);
}

void fill_tensor(const Tensor& self, const Tensor& value) {
  if (has_elements(value)) {
    at::fill_(self, value.item());
  } else {
    const Tensor target = without_repetitions(self);
    at::copy_(target, at::expand(value, target.sizes()));
  }
}

}  // namespace at::native
