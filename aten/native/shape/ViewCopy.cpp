// The operators that return a contiguous copy instead of a view.
#include "aten/native/declarations/shape/ViewCopy.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/clone.h"
#include "aten/ops/detach.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/expand.h"
#include "aten/ops/narrow.h"
#include "aten/ops/permute.h"
#include "aten/ops/select.h"
#include "aten/ops/slice.h"
#include "aten/ops/split.h"
#include "aten/ops/split_with_sizes.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/t.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unbind.h"
#include "aten/ops/unfold.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view.h"
#include "aten/ops/view_as_complex.h"
#include "aten/ops/view_as_real.h"

namespace at::native {

namespace {

Tensor copied(const Tensor& view) { return at::clone(view, MemoryFormat::Contiguous); }

std::vector<Tensor> copied(std::vector<Tensor> views) {
  for (Tensor& view : views) view = copied(view);
  return views;
}

}  // namespace

Tensor alias_copy(const Tensor& self) { return copied(self); }

Tensor as_strided_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                       std::optional<int64_t> storage_offset) {
  return copied(at::as_strided(self, size, stride, storage_offset));
}

Tensor detach_copy(const Tensor& self) { return copied(at::detach(self)); }

Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return copied(at::diagonal(self, offset, dim1, dim2));
}

Tensor expand_copy(const Tensor& self, IntArrayRef size, bool) {
  return copied(at::expand(self, size));
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return copied(at::narrow(self, dim, start, length));
}

Tensor permute_copy(const Tensor& self, IntArrayRef dims) {
  return copied(at::permute(self, dims));
}

Tensor select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return copied(at::select(self, dim, index));
}

Tensor slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step) {
  return copied(at::slice(self, dim, start, end, step));
}

Tensor squeeze_copy(const Tensor& self) { return copied(at::squeeze(self)); }
Tensor squeeze_copy_dim(const Tensor& self, int64_t dim) { return copied(at::squeeze(self, dim)); }

Tensor squeeze_copy_dims(const Tensor& self, IntArrayRef dim) {
  return copied(at::squeeze(self, dim));
}

Tensor t_copy(const Tensor& self) { return copied(at::t(self)); }

Tensor transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return copied(at::transpose(self, dim0, dim1));
}

Tensor unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return copied(at::unfold(self, dimension, size, step));
}

Tensor unsqueeze_copy(const Tensor& self, int64_t dim) { return copied(at::unsqueeze(self, dim)); }
Tensor view_as_complex_copy(const Tensor& self) { return copied(at::view_as_complex(self)); }
Tensor view_as_real_copy(const Tensor& self) { return copied(at::view_as_real(self)); }

Tensor view_copy_dtype(const Tensor& self, ScalarType dtype) {
  return copied(at::view(self, dtype));
}

/// Unlike a view, the copy exists for all strides.
Tensor view_copy(const Tensor& self, IntArrayRef size) {
  return copied(at::view(self.contiguous(), size));
}

std::vector<Tensor> split_copy(const Tensor& self, int64_t split_size, int64_t dim) {
  return copied(at::split(self, split_size, dim));
}

std::vector<Tensor> split_with_sizes_copy(const Tensor& self, IntArrayRef split_sizes,
                                          int64_t dim) {
  return copied(at::split_with_sizes(self, split_sizes, dim));
}

std::vector<Tensor> unbind_copy(const Tensor& self, int64_t dim) {
  return copied(at::unbind(self, dim));
}

}  // namespace at::native
