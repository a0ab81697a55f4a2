#pragma once
// Checks and defaults that scaled dot product attention shares with its fused kernel.
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {

/// The factor of the scores: `scale`, or 1 / sqrt(E).
double attention_scale(const Tensor& query, std::optional<double> scale);

/// Checks the arguments of the fused kernels: query (N, H, L, E), key (N, H, S, E), value
/// (N, H, S, V), and a mask that broadcasts to (N, H, L, S).
void check_fused_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                           double dropout_p, const Tensor& attn_mask);

/// Checks the results of the fused kernel and the gradient of the first one.
void check_fused_results(const Tensor& query, const Tensor& value, const Tensor& grad_out,
                         const Tensor& out, const Tensor& logsumexp);

}  // namespace at::native
