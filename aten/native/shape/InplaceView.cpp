// In-place changes of a tensor's sizes, strides or storage.
#include "aten/native/declarations/shape/InplaceView.h"
#include "aten/core/ReplacedMemory.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/resize.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/t.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"
#include "c10/core/OpaqueTensorImpl.h"

namespace at::native {

namespace {

/// Gives `self` the sizes, strides and offset of `view`.
void become(const Tensor& self, const Tensor& view) {
  self.unsafe_impl()->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
}

// set_: the tensor becomes a window on other memory.

void check_source(const Tensor& self, const Tensor& source) {
  c10::check_has_storage(*source.unsafe_impl());
  TORCH_CHECK(self.scalar_type() == source.scalar_type() && self.device() == source.device(),
              "set_(): expected a source of dtype ", dtype_name(self.scalar_type()), " on '",
              self.device(), "', got ", dtype_name(source.scalar_type()), " on '", source.device(),
              "'");
}

/// The number of bytes that a window of this geometry needs, checked against overflow. Negative
/// sizes and strides are refused.
int64_t window_bytes(IntArrayRef size, IntArrayRef stride, int64_t offset, int64_t itemsize) {
  TORCH_CHECK(size.size() == stride.size(),
              "set_(): mismatch in length of strides and shape: ", size.size(), " sizes, ",
              stride.size(), " strides");
  TORCH_CHECK(offset >= 0, "set_(): storage_offset must not be negative, got ", offset);

  int64_t last = offset;
  bool empty = false;
  for (size_t i = 0; i < size.size(); ++i) {
    TORCH_CHECK(size[i] >= 0 && stride[i] >= 0,
                "set_(): sizes and strides must not be negative, got ", size, " and ", stride);
    int64_t step = 0;
    empty = empty || size[i] == 0;
    TORCH_CHECK(size[i] == 0 || (!__builtin_mul_overflow(size[i] - 1, stride[i], &step) &&
                                 !__builtin_add_overflow(last, step, &last)),
                "set_(): the window is too large for the address space");
  }

  int64_t bytes = 0;
  TORCH_CHECK(empty || (!__builtin_add_overflow(last, 1, &bytes) &&
                        !__builtin_mul_overflow(bytes, itemsize, &bytes)),
              "set_(): the window is too large for the address space");

  return empty ? 0 : bytes;
}

/// The window must lie inside the storage: otherwise foreign memory would be read or written.
void use_memory(const Tensor& self, const Storage& storage, IntArrayRef size, IntArrayRef stride,
                int64_t offset) {
  c10::check_has_storage(*self.unsafe_impl());
  TORCH_CHECK(!self.requires_grad(),
              "set_(): a tensor that requires grad cannot be given other memory");

  const Storage memory = storage;  // `self` may be the source
  release_replaced_storage(self.storage());
  self.unsafe_impl()->set_storage(memory);
  self.unsafe_impl()->set_sizes_and_strides(size, stride, offset);
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

void set_(const Tensor& self) {
  use_memory(self, at::empty_tensor({0}, self.scalar_type(), self.device()).storage(), {0}, {1}, 0);
}

void set_tensor(const Tensor& self, const Tensor& source) {
  check_source(self, source);
  use_memory(self, source.storage(), source.sizes(), source.strides(), source.storage_offset());
}

void set_window(const Tensor& self, const Tensor& source, int64_t storage_offset, IntArrayRef size,
                IntArrayRef stride) {
  check_source(self, source);
  const DimVector contiguous = stride.empty() ? contiguous_strides(size) : DimVector();
  const IntArrayRef steps = stride.empty() ? IntArrayRef(contiguous) : stride;

  const Storage& storage = source.storage();
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  const int64_t bytes = window_bytes(size, steps, storage_offset, itemsize);
  TORCH_CHECK(bytes <= static_cast<int64_t>(storage->nbytes), "set_(): sizes ", size, ", strides ",
              steps, " and storage offset ", storage_offset, " need ", bytes,
              " bytes, but the storage has ", storage->nbytes);

  use_memory(self, storage, size, steps, storage_offset);
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
