// Renormalization of rows of an embedding table.
#include "aten/core/Tensor.h"
#include "aten/ops/gt.h"
#include "aten/ops/index_put.h"
#include "aten/ops/index_select.h"
#include "aten/ops/norm.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/reshape.h"
#include "aten/ops/where.h"

namespace at::native::cuda {

void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm,
                       double norm_type) {
  TORCH_CHECK(self.device() == indices.device(),
              "embedding_renorm_: expected weights and indices on one device, got ", self.device(),
              " and ", indices.device());
  if (indices.numel() == 0) return;

  // A row that occurs several times is read before any is written, so that it is scaled once.
  const Tensor rows = at::reshape(indices, {-1});
  const Tensor values = at::index_select(self, 0, rows);
  const Tensor norms = at::norm(values, Scalar(norm_type), {1}, true);

  // PyTorch adds the same number, which keeps the quotient finite.
  const Tensor scale = at::reciprocal(norms + Scalar(1e-7)) * Scalar(max_norm);
  at::index_put_(self, {rows}, at::where(at::gt(norms, Scalar(max_norm)), values * scale, values));
}

}  // namespace at::native::cuda
