// Embedding bags: rows of a table, looked up and reduced by sum, mean or maximum.
#include <limits>
#include <vector>

#include "aten/native/declarations/nn/EmbeddingBag.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/embedding.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/gather.h"
#include "aten/ops/index_add.h"
#include "aten/ops/index_select.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"

namespace at::native {

namespace {

constexpr int64_t kSumMode = 0;
constexpr int64_t kMeanMode = 1;
constexpr int64_t kMaxMode = 2;

/// The bag that each index belongs to, and the number of non-padding indices in each bag.
struct Bags {
  Tensor of_index, sizes;

  Bags(const Tensor& indices, const Tensor& offsets, bool include_last_offset,
       int64_t padding_idx) {
    const Tensor starts = offsets.to(kLong).contiguous();
    const Tensor numbers = indices.to(kLong).contiguous();
    const int64_t* start = starts.const_data_ptr<int64_t>();
    const int64_t* index = numbers.const_data_ptr<int64_t>();
    const int64_t total = numbers.numel();
    const int64_t bags = starts.numel() - (include_last_offset ? 1 : 0);
    TORCH_CHECK(bags >= 0, "include_last_offset: number of offsets should be at least 1");
    TORCH_CHECK(bags == 0 || start[0] == 0,
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                "from position 0. "
                "However, got ",
                bags == 0 ? 0 : start[0]);

    of_index = empty_tensor({total}, kLong, kCPU);
    sizes = empty_tensor({bags}, kLong, kCPU);
    int64_t* bag_of = of_index.data_ptr<int64_t>();
    for (int64_t i = 0; i < total && bags == 0; ++i) bag_of[i] = 0;

    for (int64_t bag = 0; bag < bags; ++bag) {
      const bool closed = bag + 1 < bags || include_last_offset;
      const int64_t end = closed ? start[bag + 1] : total;
      TORCH_CHECK(start[bag] <= end && end <= total, "offsets[", bag + 1,
                  "] can not be smaller than the one before or greater than input's "
                  "length of ",
                  total, ", got ", end);

      int64_t count = 0;
      for (int64_t i = start[bag]; i < end; ++i) {
        bag_of[i] = bag;
        count += index[i] != padding_idx;
      }
      sizes.data_ptr<int64_t>()[bag] = count;
    }

    covered = bags == 0 ? 0 : (include_last_offset ? start[bags] : total);
  }

  int64_t covered = 0;  // indices that are in a bag
};

void check_rows(const Tensor& indices, int64_t rows) {
  const Tensor numbers = indices.to(kLong).contiguous();
  const int64_t* index = numbers.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    TORCH_CHECK(index[i] >= 0 && index[i] < rows, "embedding_bag: Index ", i,
                " of input takes value ", index[i], " which is not in the valid range [0, ", rows,
                ")");
  }
}

void check_embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         int64_t mode, const Tensor& sample_weights) {
  TORCH_CHECK(weight.dim() == 2, "embedding_bag: expected a weight of 2 dimensions, got size ",
              weight.sizes());
  TORCH_CHECK(indices.dim() == 1, "embedding_bag: expected indices of 1 dimension, got size ",
              indices.sizes());
  TORCH_CHECK(offsets.dim() == 1, "offsets should be a 1D tensor, got size ", offsets.sizes());

  for (const Tensor& tensor : {indices, offsets}) {
    TORCH_CHECK(tensor.scalar_type() == kLong || tensor.scalar_type() == kInt,
                "embedding_bag: expected indices and offsets of scalar types Long or Int, got ",
                tensor.scalar_type());
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.is_cpu() || weight.is_meta(),
                                "embedding_bag: not available on ", tensor.device());
  }

  TORCH_CHECK(mode >= kSumMode && mode <= kMaxMode,
              "embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), got ", mode);

  // Weights of single samples are defined for sums only.
  if (!sample_weights.defined()) return;
  TORCH_CHECK(mode == kSumMode, "embedding_bag: per_sample_weights only supported with mode='sum'");
  TORCH_CHECK(sample_weights.dim() == 1 && sample_weights.numel() == indices.numel(),
              "expected per_sample_weights to be 1D and of the size of indices, ", indices.sizes(),
              ", got ", sample_weights.sizes());
  TORCH_CHECK(sample_weights.scalar_type() == weight.scalar_type(),
              "expected per_sample_weights of scalar type ", weight.scalar_type(), ", got ",
              sample_weights.scalar_type());
}

/// The table row that holds the maximum, for each bag and column; 0 for bags without rows.
Tensor rows_of_maxima(const Tensor& rows, const Tensor& indices, const Bags& bags,
                      int64_t padding_idx) {
  const Tensor values = rows.detach().to(kDouble).contiguous();
  const Tensor numbers = indices.to(kLong).contiguous();
  const int64_t count = bags.sizes.numel();
  const int64_t width = values.size(1);
  const Tensor result = at::new_zeros(bags.sizes, {count, width});

  // Compared in double; `any` says whether a bag has a row yet.
  std::vector<double> best(static_cast<size_t>(count * width),
                           -std::numeric_limits<double>::infinity());
  std::vector<char> any(static_cast<size_t>(count), 0);

  const int64_t* index = numbers.const_data_ptr<int64_t>();
  const int64_t* bag_of = bags.of_index.const_data_ptr<int64_t>();
  const double* value = values.const_data_ptr<double>();
  int64_t* found = result.data_ptr<int64_t>();

  for (int64_t i = 0; i < bags.covered; ++i) {
    if (index[i] == padding_idx) continue;

    const int64_t bag = bag_of[i];
    const bool first = !any[static_cast<size_t>(bag)];
    any[static_cast<size_t>(bag)] = 1;

    for (int64_t j = 0; j < width; ++j) {
      double& largest = best[static_cast<size_t>(bag * width + j)];
      if (!first && !(value[i * width + j] > largest)) continue;
      largest = value[i * width + j];
      found[bag * width + j] = index[i];
    }
  }

  return result;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor>
embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
              bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights,
              bool include_last_offset, std::optional<int64_t> padding) {
  check_embedding_bag(weight, indices, offsets, mode, per_sample_weights);
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_bag: sparse gradients are not available");

  const int64_t count = weight.size(0);
  TORCH_CHECK(!padding || (*padding >= -count && *padding < count),
              "padding_idx must be within the number of embeddings, ", count, ", got ",
              padding.value_or(0));
  const int64_t padding_idx = !padding ? -1 : *padding < 0 ? *padding + count : *padding;

  if (weight.is_meta()) {
    const int64_t bags = std::max<int64_t>(offsets.numel() - (include_last_offset ? 1 : 0), 0);
    const auto integers = [&](IntArrayRef size) {
      return empty_tensor(size, kLong, weight.device());
    };
    // An operator computes the result from the weight, so that autograd records a graph.
    const Tensor result =
        at::expand(at::sum(weight, IntArrayRef(0), true), {bags, weight.size(1)}).contiguous();
    return {result, integers({indices.numel()}), integers({bags}),
            mode == kMaxMode ? integers({bags, weight.size(1)}) : integers({bags})};
  }

  check_rows(indices, count);
  const Bags bags(indices, offsets, include_last_offset, padding_idx);
  Tensor rows = at::embedding(weight, indices, padding_idx, scale_grad_by_freq, false);
  const Tensor numbers = indices.to(kLong);
  const Tensor sizes = bags.sizes;

  if (mode == kMaxMode) {
    const Tensor maxima = rows_of_maxima(rows, indices, bags, padding_idx);
    const Tensor empty = at::eq(sizes, Scalar(0)).unsqueeze(1);
    const Tensor result = count == 0
                              ? at::new_zeros(weight, maxima.sizes())
                              : at::masked_fill(at::gather(weight, 0, maxima), empty, Scalar(0));
    return {result, bags.of_index, sizes, maxima};
  }

  // A sum or mean: rows are weighted, padding becomes zero, and bags are added up in the wide type.
  if (per_sample_weights.defined()) rows = rows * per_sample_weights.unsqueeze(1);
  if (padding_idx >= 0)
    rows = at::masked_fill(rows, at::eq(numbers, Scalar(padding_idx)).unsqueeze(1), Scalar(0));
  const ScalarType wide = to_accumulate(weight.scalar_type());
  Tensor result = at::index_add(at::new_zeros(weight, {sizes.numel(), weight.size(1)}, wide), 0,
                                bags.of_index.narrow(0, 0, bags.covered),
                                rows.narrow(0, 0, bags.covered).to(wide));

  if (mode == kMeanMode) result = result / at::clamp_min(sizes, Scalar(1)).to(wide).unsqueeze(1);
  return {result.to(weight.scalar_type()), bags.of_index, sizes, sizes};
}

}  // namespace at::native
