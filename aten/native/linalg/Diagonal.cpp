// Diagonals of matrices: views of them, matrices made of them, and the trace.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/native/declarations/linalg/Diagonal.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/diag.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"

namespace at::native {

Tensor fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) {
  TORCH_CHECK(self.dim() >= 2, "dimensions must larger than 1");

  // The diagonal of a hypercube takes one step along every dimension at once.
  if (self.dim() > 2) {
    int64_t step = 0;
    for (int64_t d = 0; d < self.dim(); ++d) {
      TORCH_CHECK(self.sizes()[d] == self.sizes()[0],
                  "all dimensions of input must be of equal length");
      step += self.strides()[d];
    }
    at::fill_(at::as_strided(self, {self.sizes()[0]}, {step}, self.storage_offset()), fill_value);
    return self;
  }

  // In a tall matrix, the wrapped diagonal leaves out one row and starts again in the next.
  const int64_t rows = self.sizes()[0];
  const int64_t period = self.sizes()[1] + 1;
  for (int64_t start = 0; start == 0 || (wrap && start < rows); start += period) {
    at::fill_(at::diagonal(at::narrow(self, 0, start, rows - start)), fill_value);
  }

  return self;
}

Tensor trace(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return at::sum(at::diagonal(self, 0, 0, 1));
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return at::diagonal(A, offset, dim1, dim2);
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  return at::diag(at::reshape(self.contiguous(), {-1}), offset);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t row = wrap_dim(dim1, self.dim() + 1);
  const int64_t column = wrap_dim(dim2, self.dim() + 1);
  TORCH_CHECK(row != column, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);

  int64_t n = 0;
  TORCH_CHECK(offset != std::numeric_limits<int64_t>::min() &&
                  !__builtin_add_overflow(self.size(-1), std::abs(offset), &n),
              "diag_embed(): offset ", offset, " is too large for a dimension of size ",
              self.size(-1));

  DimVector sizes(self.sizes().begin(), self.sizes().end() - 1);
  sizes.insert(sizes.begin() + std::min(row, column), n);
  sizes.insert(sizes.begin() + std::max(row, column), n);

  Tensor result = at::new_zeros(self, sizes);
  at::copy_(at::diagonal(result, offset, row, column), self);
  return result;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
              self.dim(), "D");
  return self.dim() == 1 ? diag_embed(self, diagonal, -2, -1)
                         : at::contiguous(at::diagonal(self, diagonal));
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t row = wrap_dim(dim1, self.dim());
  const int64_t column = wrap_dim(dim2, self.dim());
  TORCH_CHECK(row != column, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);

  const int64_t rows = self.sizes()[row];
  const int64_t columns = self.sizes()[column];
  const int64_t length = std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset)
                                                          : std::min(rows + offset, columns));

  int64_t start = self.storage_offset();
  if (length > 0)
    start += offset >= 0 ? offset * self.strides()[column] : -offset * self.strides()[row];

  // The diagonal becomes the last dimension.
  DimVector sizes;
  DimVector strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == row || d == column) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  sizes.push_back(length);
  strides.push_back(self.strides()[row] + self.strides()[column]);
  return alias_with_sizes_and_strides(self, sizes, strides, start);
}

Tensor _diagonal_backward(const Tensor& grad, IntArrayRef sizes, int64_t offset, int64_t dim1,
                          int64_t dim2) {
  Tensor result = at::new_zeros(grad, sizes);
  at::copy_(at::diagonal(result, offset, dim1, dim2), grad);
  return result;
}

}  // namespace at::native
