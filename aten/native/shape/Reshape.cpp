// Other shapes for the same elements: a view where the strides allow it, a copy otherwise.
#include "aten/native/declarations/shape/Reshape.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/clone.h"
#include "aten/ops/reshape.h"
#include "aten/ops/view.h"

namespace at::native {

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size(shape, self.numel());
  if (view_strides(self.sizes(), self.strides(), sizes).has_value()) return at::view(self, sizes);
  return at::view(at::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor view_as(const Tensor& self, const Tensor& other) { return at::view(self, other.sizes()); }

Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return at::reshape(self, other.sizes());
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim(start_dim, self.dim());
  const int64_t last = wrap_dim(end_dim, self.dim());
  TORCH_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return at::reshape(self, {1});
  if (first == last) return self;

  DimVector sizes(self.sizes().begin(), self.sizes().begin() + first);
  int64_t merged = 1;
  for (int64_t d = first; d <= last; ++d) merged *= self.sizes()[d];
  sizes.push_back(merged);
  sizes.append(self.sizes().begin() + last + 1, self.sizes().end());

  return at::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");

  int64_t known = 1;
  int64_t inferred = 0;
  bool fits = true;
  for (const int64_t size : sizes) {
    if (size == -1) {
      ++inferred;
    } else {
      fits = fits && !__builtin_mul_overflow(known, size, &known);
    }
  }

  const int64_t extent = self.size(d);
  TORCH_CHECK(inferred <= 1, "only one dimension can be inferred");
  TORCH_CHECK(fits && (inferred == 1 ? known > 0 && extent % known == 0 : known == extent),
              "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", d,
              " (", extent, ") in the input tensor");

  DimVector shape(self.sizes().begin(), self.sizes().begin() + d);
  for (const int64_t size : sizes) shape.push_back(size == -1 ? extent / known : size);
  shape.append(self.sizes().begin() + d + 1, self.sizes().end());
  return at::view(self, shape);
}

Tensor ravel(const Tensor& self) { return at::reshape(self.contiguous(), {-1}); }

}  // namespace at::native
