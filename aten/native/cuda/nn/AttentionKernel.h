// The launches of fused attention for tensors that AttentionKernel.cu has checked and arranged.
#pragma once

#include "aten/native/nn/Attention.h"

namespace at::native::cuda::attention {

/// What a block of the backward pass needs of shared memory where a size is above 64; not all GPUs
/// have it.
inline constexpr size_t kMostSharedMemory = 105472;

/// Sizes V and E of queries, keys and values are multiples of 8 up to 128, rows are dense and begin
/// at multiples of 16 bytes. A mask is of float, and is added.
void forward(const AttentionArguments& given, const Tensor& out, const Tensor& logsumexp);

struct AttentionGradients {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
};
void backward(const AttentionArguments& given, const Tensor& grad_out, const Tensor& out,
              const Tensor& logsumexp, const AttentionGradients& gradients);

}  // namespace at::native::cuda::attention
