#pragma once
// Shared by the composition and the kernel of embedding_bag.
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {

// The values of `mode`.
constexpr int64_t kSumMode = 0;
constexpr int64_t kMeanMode = 1;
constexpr int64_t kMaxMode = 2;

/// Checks the arguments of embedding_bag. Returns the index of padding, or -1.
int64_t check_embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                            int64_t mode, bool sparse, const Tensor& sample_weights,
                            std::optional<int64_t> padding);

}  // namespace at::native
