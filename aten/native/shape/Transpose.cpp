// Transposing, permuting and moving dimensions.
#include <algorithm>

#include "aten/native/declarations/shape/Transpose.h"
#include "aten/native/declarations/shape/View.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/conj.h"
#include "aten/ops/permute.h"
#include "aten/ops/transpose.h"

namespace at::native {

Tensor conj_transpose(const Tensor& self) {
  const Tensor transposed = at::transpose(self, -2, -1);
  return self.is_complex() ? at::conj(transposed) : transposed;
}

Tensor adjoint(const Tensor& self) {
  TORCH_CHECK(
      self.dim() != 1,
      "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  const Tensor transposed = self.dim() == 0 ? self : at::transpose(self, -2, -1);
  return self.is_complex() ? at::conj(transposed) : transposed;
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim());
  const int64_t b = wrap_dim(dim1, self.dim());
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor t(const Tensor& self) {
  return self.dim() < 2 ? alias(self) : native::transpose(self, 0, 1);
}

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose(self, axis0, axis1);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(
      static_cast<int64_t>(dims.size()) == self.dim(),
      "permute(): number of dimensions in the tensor input does not match the length of the "
      "desired ordering of dimensions i.e. input.dim() = ",
      self.dim(), " is not equal to len(dims) = ", dims.size());

  const DimVector order = wrap_dims(dims, self.dim());
  DimVector sizes;
  DimVector strides;
  for (const int64_t d : order) {
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }

  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(source.size() == destination.size(),
              "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination,
              " dims)");

  auto unique_dims = [&](IntArrayRef dims, const char* name) {
    DimVector wrapped;
    for (const int64_t dim : dims) {
      const int64_t d = wrap_dim(dim, self.dim());
      TORCH_CHECK(std::find(wrapped.begin(), wrapped.end(), d) == wrapped.end(),
                  "movedim: repeated dim in `", name, "` (", dims, ")");
      wrapped.push_back(d);
    }
    return wrapped;
  };
  const DimVector from = unique_dims(source, "source");
  const DimVector to = unique_dims(destination, "destination");

  // The other dimensions keep their order and fill the positions that are left.
  DimVector order(self.dim(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    d = next++;
  }

  return at::permute(self, order);
}

Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, {source}, {destination});
}

Tensor _inverse_permute(const Tensor& grad, IntArrayRef dims) {
  const DimVector order = wrap_dims(dims, grad.dim());
  DimVector inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return at::permute(grad, inverse);
}

}  // namespace at::native
