// Embedding lookups with their gradient, and one-hot vectors.
#include <algorithm>

#include "aten/iteration/Gather.h"
#include "aten/native/declarations/nn/Embedding.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/index_add.h"
#include "aten/ops/index_select.h"
#include "aten/ops/max.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter.h"
#include "aten/ops/to.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/zeros.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

/// Raises unless all indices are those of rows of `weight`. Indices on a device are copied to the
/// host.
void check_rows(const Tensor& weight, const Tensor& indices) {
  const Tensor positions = at::to(indices, kCPU, kLong).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();
  const int64_t rows = weight.sizes()[0];
  for (int64_t i = 0; i < positions.numel(); ++i) {
    TORCH_CHECK_INDEX(position[i] >= 0 && position[i] < rows, "embedding(): index ", position[i],
                      " in 'input' is out of range: 'weight' has ", rows, " rows");
  }
}

/// The rows of an embedding's weight at `indices`. An index out of range is reported in the
/// embedding's terms instead of index_select's.
Tensor rows_of(const Tensor& weight, const Tensor& indices) {
  // index_select does not look at the indices if its result has no elements.
  if (weight.numel() == 0 && has_elements(indices)) check_rows(weight, indices);

  try {
    return at::index_select(weight, 0, indices);
  } catch (const c10::IndexError&) {
    check_rows(weight, indices);
    throw;
  }
}

}  // namespace

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TORCH_CHECK(self.scalar_type() == kLong,
              "one_hot is only applicable to index tensor of type LongTensor, got ",
              self.scalar_type());

  if (self.numel() == 0) {
    TORCH_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
    DimVector sizes(self.sizes());
    sizes.push_back(num_classes);
    return at::zeros(sizes, kLong, std::nullopt, self.device());
  }

  DimVector sizes(self.sizes());
  if (has_elements(self) || num_classes == -1) {
    const int64_t largest = at::max(self).item<int64_t>();
    TORCH_CHECK(-at::max(-self).item<int64_t>() >= 0, "Class values must be non-negative.");
    TORCH_CHECK(num_classes == -1 || num_classes > largest,
                "Class values must be smaller than num_classes.");
    sizes.push_back(num_classes == -1 ? c10::checked_add("one_hot", largest, 1) : num_classes);
  } else {
    TORCH_CHECK(num_classes > 0, "one_hot: num_classes must be positive, got ", num_classes);
    sizes.push_back(num_classes);
  }

  const Tensor zeros = at::zeros(sizes, kLong, std::nullopt, self.device());
  return at::scatter(zeros, -1, at::unsqueeze(self, -1), Scalar(1));
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D, got ", weight.dim(), "-D");
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding: sparse gradients are not available");
  TORCH_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
              "Expected tensor for argument #1 'indices' to have one of the following scalar "
              "types: Long, Int; but got ",
              indices.scalar_type(), " instead (while checking arguments for embedding)");

  DimVector sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  return at::reshape(rows_of(weight, at::reshape(indices, {-1})), sizes);
}

Tensor _embedding_backward(const Tensor& grad, const Tensor& indices, IntArrayRef sizes,
                           int64_t padding_idx, bool scale_grad_by_freq) {
  const Tensor flat = at::reshape(indices, {-1}).to(kLong);
  Tensor rows = at::reshape(grad, {flat.numel(), sizes[1]});

  // Padding receives no gradient.
  if (padding_idx >= 0)
    rows = rows * at::unsqueeze(at::ne(flat, Scalar(padding_idx)), 1).to(rows.scalar_type());

  // Divides each row's gradient by the number of times the row was looked up.
  if (scale_grad_by_freq) {
    const Tensor ones = at::ones_like(flat, rows.scalar_type());
    const Tensor counts = at::index_add(at::new_zeros(ones, {sizes[0]}), 0, flat, ones);
    rows = rows / at::unsqueeze(at::index_select(counts, 0, flat), 1);
  }

  return at::index_add(at::new_zeros(grad, sizes), 0, flat, rows);
}

}  // namespace at::native
