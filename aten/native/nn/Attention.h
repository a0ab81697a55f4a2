#pragma once
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {

/// 1 / sqrt(E) unless given.
double attention_scale(const Tensor& query, std::optional<double> scale);
/// The arguments of the fused kernels: (N, H, L, E), (N, H, S, E), (N, H, S, V), a mask that
/// broadcasts to (N, H, L, S).
void check_fused_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                           double dropout_p, const Tensor& attn_mask);
/// Its results and the gradient of the first.
void check_fused_results(const Tensor& query, const Tensor& value, const Tensor& grad_out,
                         const Tensor& out, const Tensor& logsumexp);

}  // namespace at::native
