// Copies of a tensor in which one part is replaced, as if it had been written through a view.
#include <algorithm>

#include "aten/native/declarations/shape/ViewScatter.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/copy.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/select.h"
#include "aten/ops/slice.h"

namespace at::native {

namespace {

/// A copy with the strides of `self`, gaps included, so that as_strided selects the same elements.
Tensor copy_with_strides(const Tensor& self) {
  const bool expanded =
      std::find(self.strides().begin(), self.strides().end(), 0) != self.strides().end();
  const DimVector strides = expanded ? strides_in_order_of(self) : DimVector(self.strides());

  Tensor copy =
      at::empty_strided(self.sizes(), strides, self.scalar_type(), self.layout(), self.device());
  return at::copy_(copy, self);
}

/// Copies `src` into `part`, which must have the same size.
void write(const Tensor& part, const Tensor& src) {
  TORCH_CHECK(part.sizes() == src.sizes(),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  at::copy_(part, src);
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor result = copy_with_strides(self);
  write(at::select(result, dim, index), src);
  return result;
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  Tensor result = copy_with_strides(self);
  write(at::slice(result, dim, start, end, step), src);
  return result;
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  Tensor result = copy_with_strides(self);
  write(at::diagonal(result, offset, dim1, dim2), src);
  return result;
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                          IntArrayRef stride, std::optional<int64_t> storage_offset) {
  Tensor result = copy_with_strides(self);
  // The copy begins its own storage, so its offset is 0.
  const int64_t offset = storage_offset.value_or(self.storage_offset()) - self.storage_offset();
  write(at::as_strided(result, size, stride, offset), src);
  return result;
}

Tensor slice_inverse(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const Tensor slice = at::slice(src, dim, start, end, step);
  TORCH_CHECK(slice.sizes() == self.sizes(),
              "slice_inverse: expected self to have the size of the slice of src, ", slice.sizes(),
              ", got ", self.sizes());

  const int64_t offset = self.storage_offset() - (slice.storage_offset() - src.storage_offset());
  return at::as_strided(self, src.sizes(), src.strides(), offset);
}

}  // namespace at::native
