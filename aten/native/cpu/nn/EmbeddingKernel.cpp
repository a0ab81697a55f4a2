// One-hot vectors, and renormalization of rows of an embedding table.
#include <algorithm>
#include <vector>

#include "aten/native/declarations/cpu/nn/EmbeddingKernel.h"
#include "aten/native/declarations/nn/Embedding.h"
#include "aten/ops/gt.h"
#include "aten/ops/index_copy.h"
#include "aten/ops/index_select.h"
#include "aten/ops/norm.h"
#include "aten/ops/reciprocal.h"
#include "aten/ops/where.h"
#include "aten/parallel/Parallel.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

Tensor one_hot_kernel(const Tensor& self, int64_t num_classes) {
  if (self.scalar_type() != kLong || self.numel() == 0) return one_hot(self, num_classes);

  const Tensor classes = self.contiguous();
  const int64_t* number = classes.const_data_ptr<int64_t>();
  const auto [smallest, largest] = std::minmax_element(number, number + classes.numel());

  TORCH_CHECK(*smallest >= 0, "Class values must be non-negative.");
  TORCH_CHECK(num_classes == -1 || num_classes > *largest,
              "Class values must be smaller than num_classes.");

  const int64_t count = num_classes == -1 ? c10::checked_add("one_hot", *largest, 1) : num_classes;
  DimVector sizes(self.sizes());
  sizes.push_back(count);
  const Tensor result = empty_tensor(sizes, kLong, kCPU);
  int64_t* out = result.data_ptr<int64_t>();

  // Each thread fills the rows of its range with zeros and sets one element per row.
  parallel_for(0, classes.numel(), std::max<int64_t>(1, 32768 / count),
               [&](int64_t begin, int64_t end) {
                 std::fill(out + begin * count, out + end * count, 0);
                 for (int64_t i = begin; i < end; ++i) out[i * count + number[i]] = 1;
               });

  return result;
}

void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm,
                       double norm_type) {
  TORCH_CHECK(self.is_cpu() && indices.is_cpu(),
              "embedding_renorm_: expected weights and indices on the CPU, got ", self.device(),
              " and ", indices.device());

  // The distinct rows: a row that occurs several times is scaled once.
  const Tensor flat = indices.to(kLong).contiguous();
  std::vector<int64_t> rows(flat.const_data_ptr<int64_t>(),
                            flat.const_data_ptr<int64_t>() + flat.numel());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());

  if (rows.empty()) return;

  const Tensor chosen = empty_tensor({static_cast<int64_t>(rows.size())}, kLong, kCPU);
  std::copy(rows.begin(), rows.end(), chosen.data_ptr<int64_t>());

  const Tensor values = at::index_select(self, 0, chosen);
  const Tensor norms = at::norm(values, Scalar(norm_type), {1}, true);

  // PyTorch adds the same number, which keeps the quotient finite.
  const Tensor scale = at::reciprocal(norms + Scalar(1e-7)) * Scalar(max_norm);
  at::index_copy_(self, 0, chosen,
                  at::where(at::gt(norms, Scalar(max_norm)), values * scale, values));
}

}  // namespace at::native
