// Embedding bags: rows of a table, looked up and reduced by sum, mean or maximum.
#include <algorithm>

#include "aten/native/declarations/nn/EmbeddingBag.h"
#include "aten/native/nn/EmbeddingBag.h"
#include "aten/ops/_embedding_bag_bags.h"
#include "aten/ops/_embedding_bag_maxima.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/embedding.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/gather.h"
#include "aten/ops/index_add.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"

namespace at::native {

namespace {

/// Weights of single samples are defined for sums only.
void check_sample_weights(const Tensor& weight, const Tensor& indices, int64_t mode,
                          const Tensor& sample_weights) {
  TORCH_CHECK(mode == kSumMode, "embedding_bag: per_sample_weights only supported with mode='sum'");
  TORCH_CHECK(sample_weights.dim() == 1 && sample_weights.numel() == indices.numel(),
              "expected per_sample_weights to be 1D and of the size of indices, ", indices.sizes(),
              ", got ", sample_weights.sizes());
  TORCH_CHECK(sample_weights.scalar_type() == weight.scalar_type(),
              "expected per_sample_weights of scalar type ", weight.scalar_type(), ", got ",
              sample_weights.scalar_type());
}

}  // namespace

int64_t check_embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                            int64_t mode, bool sparse, const Tensor& sample_weights,
                            std::optional<int64_t> padding) {
  TORCH_CHECK(weight.dim() == 2, "embedding_bag: expected a weight of 2 dimensions, got size ",
              weight.sizes());
  TORCH_CHECK(indices.dim() == 1, "embedding_bag: expected indices of 1 dimension, got size ",
              indices.sizes());
  TORCH_CHECK(offsets.dim() == 1, "offsets should be a 1D tensor, got size ", offsets.sizes());

  for (const Tensor& tensor : {indices, offsets}) {
    TORCH_CHECK(tensor.scalar_type() == kLong || tensor.scalar_type() == kInt,
                "embedding_bag: expected indices and offsets of scalar types Long or Int, got ",
                tensor.scalar_type());
    TORCH_CHECK(tensor.device() == weight.device() || weight.is_meta(),
                "embedding_bag: Expected all tensors to be on the same device, but found at least "
                "two devices, ",
                weight.device(), " and ", tensor.device(), "!");
  }

  TORCH_CHECK(mode >= kSumMode && mode <= kMaxMode,
              "embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), got ", mode);
  if (sample_weights.defined()) check_sample_weights(weight, indices, mode, sample_weights);
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_bag: sparse gradients are not available");

  const int64_t count = weight.size(0);
  TORCH_CHECK(!padding || (*padding >= -count && *padding < count),
              "padding_idx must be within the number of embeddings, ", count, ", got ",
              padding.value_or(0));
  return !padding ? -1 : *padding < 0 ? *padding + count : *padding;
}

std::tuple<TensorSpec, TensorSpec> embedding_bag_bags_shape(const Tensor& indices,
                                                            const Tensor& offsets, int64_t /*rows*/,
                                                            bool include_last_offset,
                                                            int64_t /*padding_idx*/) {
  const int64_t bags = offsets.numel() - (include_last_offset ? 1 : 0);
  TORCH_CHECK(bags >= 0, "include_last_offset: number of offsets should be at least 1");
  return {{{indices.numel()}, kLong, indices.device()}, {{bags}, kLong, indices.device()}};
}

TensorSpec embedding_bag_maxima_shape(const Tensor& values, const Tensor& indices,
                                      const Tensor& bags, int64_t count, int64_t /*padding_idx*/) {
  TORCH_CHECK(values.dim() == 2 && values.size(0) == indices.numel() &&
                  bags.numel() == indices.numel() && bags.scalar_type() == kLong && count >= 0,
              "_embedding_bag_maxima: expected a row and a bag for every index, got sizes ",
              values.sizes(), ", ", indices.sizes(), " and ", bags.sizes());
  return {{count, values.size(1)}, kLong, values.device()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
              bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights,
              bool include_last_offset, std::optional<int64_t> padding) {
  const int64_t padding_idx =
      check_embedding_bag(weight, indices, offsets, mode, sparse, per_sample_weights, padding);
  const int64_t count = weight.size(0);

  if (weight.is_meta()) {
    const int64_t bags = std::max<int64_t>(offsets.numel() - (include_last_offset ? 1 : 0), 0);
    const auto integers = [&](IntArrayRef size) {
      return empty_tensor(size, kLong, weight.device());
    };
    // An operator computes the result from the weight, so that autograd records a graph.
    const Tensor result =
        at::expand(at::sum(weight, IntArrayRef(0), true), {bags, weight.size(1)}).contiguous();
    const Tensor sizes = integers({bags});
    return {result, integers({indices.numel()}), sizes,
            mode == kMaxMode ? integers({bags, weight.size(1)}) : sizes};
  }

  const auto [bag_of, sizes] =
      at::_embedding_bag_bags(indices, offsets, count, include_last_offset, padding_idx);
  const int64_t bags = sizes.numel();
  Tensor rows = at::embedding(weight, indices, padding_idx, scale_grad_by_freq, false);

  if (mode == kMaxMode) {
    const Tensor maxima =
        at::_embedding_bag_maxima(rows.detach(), indices, bag_of, bags, padding_idx);
    const Tensor empty = at::eq(sizes, Scalar(0)).unsqueeze(1);
    const Tensor result = count == 0
                              ? at::new_zeros(weight, maxima.sizes())
                              : at::masked_fill(at::gather(weight, 0, maxima), empty, Scalar(0));
    return {result, bag_of, sizes, maxima};
  }

  // A sum or mean: rows are weighted, padding becomes zero, and bags are added up in the wide type.
  if (per_sample_weights.defined()) rows = rows * per_sample_weights.unsqueeze(1);
  if (padding_idx >= 0)
    rows = at::masked_fill(rows, at::eq(indices.to(kLong), Scalar(padding_idx)).unsqueeze(1),
                           Scalar(0));
  const ScalarType wide = to_accumulate(weight.scalar_type());

  // Indices after the last bag, if there may be any, are added to one more row.
  const bool has_rest = include_last_offset || bags == 0;
  Tensor result =
      at::index_add(at::new_zeros(weight, {bags + (has_rest ? 1 : 0), weight.size(1)}, wide), 0,
                    bag_of, rows.to(wide));
  if (has_rest) result = result.narrow(0, 0, bags);

  if (mode == kMeanMode) result = result / at::clamp_min(sizes, Scalar(1)).to(wide).unsqueeze(1);
  return {result.to(weight.scalar_type()), bag_of, sizes, sizes};
}

}  // namespace at::native
