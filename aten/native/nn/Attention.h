#pragma once
// Checks and defaults that scaled dot product attention shares with its fused kernel.
#include <optional>
#include <tuple>

#include "aten/core/Tensor.h"

namespace at::native {

/// The factor of the scores: `scale`, or 1 / sqrt(E).
TORCH_PY_API double attention_scale(const Tensor& query, std::optional<double> scale);

/// What the fused kernels are given: query (N, H, L, E), key (N, K, S, E), value (N, K, S, V).
struct AttentionArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor& mask;  // broadcasts to the scores, or undefined
  const Tensor& kept;  // which weights dropout keeps, or undefined
  double dropout;
  bool is_causal;
  double scale;

  /// The sizes of the scores: (N, H, L, S).
  DimVector score_sizes() const {
    return {query.size(0), query.size(1), query.size(2), key.size(2)};
  }
};

/// Whether the kernels for CUDA take these arguments, of any strides: float16 and bfloat16, heads
/// of sizes that are multiples of 8 up to 128.
TORCH_PY_API bool fits_cuda_kernels(const AttentionArguments& given);

/// The output and logsumexp of `_fused_attention` as a composition, and its gradients: for what the
/// kernels of a device do not take.
TORCH_PY_API std::tuple<Tensor, Tensor> composed_attention(const AttentionArguments& given);
TORCH_PY_API std::tuple<Tensor, Tensor, Tensor, Tensor>
composed_attention_backward(const Tensor& grad_out, const AttentionArguments& given,
                            bool mask_requires_grad);

/// Checks the arguments of a fused kernel.
TORCH_PY_API void check_fused_attention(const char* name, const AttentionArguments& given);

/// Checks that a gradient of the mask, if it is wanted, exists.
TORCH_PY_API void check_mask_gradient(const Tensor& mask, bool is_wanted);

/// Checks the results of the fused kernel and the gradient of the first one.
TORCH_PY_API void check_fused_results(const Tensor& query, const Tensor& value,
                                      const Tensor& grad_out, const Tensor& out,
                                      const Tensor& logsumexp);

}  // namespace at::native
