// In-place changes of a tensor's sizes, strides or storage.
#include "aten/native/declarations/shape/InplaceView.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/resize.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/t.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// Gives `self` the sizes, strides and offset of `view`.
void become(const Tensor& self, const Tensor& view) {
  self.unsafe_impl()->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
}

}  // namespace

void resize_(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  resize_tensor(self, size);
  if (memory_format.has_value() && *memory_format != MemoryFormat::Contiguous &&
      *memory_format != MemoryFormat::Preserve) {
    self.unsafe_impl()->set_sizes_and_strides(size, channels_last_strides(size));
  }
}

void set_tensor(const Tensor& self, const Tensor& source) {
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), "set_(): expected a tensor of dtype ",
              self.scalar_type(), ", got ", source.scalar_type());
  TORCH_CHECK(self.device() == source.device(), "set_(): expected a tensor on ", self.device(),
              ", got one on ", source.device());

  self.unsafe_impl()->set_storage(source.storage());
  self.unsafe_impl()->set_sizes_and_strides(source.sizes(), source.strides(),
                                            source.storage_offset());
}

void squeeze_(const Tensor& self) { become(self, at::squeeze(self)); }
void squeeze_dim_(const Tensor& self, int64_t dim) { become(self, at::squeeze(self, dim)); }
void squeeze_dims_(const Tensor& self, IntArrayRef dim) { become(self, at::squeeze(self, dim)); }
void unsqueeze_(const Tensor& self, int64_t dim) { become(self, at::unsqueeze(self, dim)); }

void transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  become(self, at::transpose(self, dim0, dim1));
}

Tensor swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose_(self, axis0, axis1);
}

void t_(const Tensor& self) { become(self, at::t(self)); }

void as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                 std::optional<int64_t> storage_offset) {
  become(self, at::as_strided(self, size, stride, storage_offset));
}

Tensor resize_as_(const Tensor& self, const Tensor& the_template,
                  std::optional<MemoryFormat> memory_format) {
  std::optional<MemoryFormat> format = memory_format;
  if (format == MemoryFormat::Preserve) format = the_template.suggest_memory_format();
  return at::resize_(self, the_template.sizes(), format);
}

}  // namespace at::native
