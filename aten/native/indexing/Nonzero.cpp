// The variants of nonzero, and count_nonzero: positions and number of the elements that are not
// zero.
#include <algorithm>
#include <vector>

#include "aten/native/declarations/indexing/Nonzero.h"
#include "aten/ops/cat.h"
#include "aten/ops/full.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ne.h"
#include "aten/ops/nonzero.h"
#include "aten/ops/sum.h"
#include "aten/ops/unbind.h"

namespace at::native {

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return at::unbind(at::nonzero(self.dim() == 0 ? self.unsqueeze(0) : self), 1);
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");

  if (self.is_meta()) return empty_tensor({size, self.dim()}, kLong, self.device());

  const Tensor found = at::nonzero(self);
  const int64_t kept = std::min(size, found.sizes()[0]);
  return at::cat(
      {at::narrow(found, 0, 0, kept),
       at::full({size - kept, self.dim()}, Scalar(fill_value), kLong, std::nullopt, self.device())},
      0);
}

Tensor argwhere(const Tensor& self) { return at::nonzero(self); }

Tensor count_nonzero_dim(const Tensor& self, IntArrayRef dim) {
  return at::sum(at::ne(self, Scalar(0)), dim);
}

Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  const Tensor nonzero = at::ne(self, Scalar(0));
  return dim.has_value() ? at::sum(nonzero, IntArrayRef(&*dim, 1)) : at::sum(nonzero);
}

}  // namespace at::native
