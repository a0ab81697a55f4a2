// Fused attention on CUDA: what the kernels of AttentionForward.cu and AttentionBackward.cu take
// goes there, and everything else through compositions.
#include "aten/native/cuda/nn/AttentionKernel.h"

#include <limits>

#include "aten/ops/copy.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/masked_fill.h"
#include "c10/cuda/Runtime.h"

namespace at::native::cuda {

namespace {

/// Rows are dense, and begin at multiples of 16 bytes.
bool has_aligned_rows(const Tensor& tensor) {
  constexpr int64_t kBytes = 16;
  if (reinterpret_cast<uintptr_t>(tensor.data()) % kBytes != 0) return false;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t step = tensor.strides()[d] * static_cast<int64_t>(tensor.itemsize());
    if (tensor.sizes()[d] != 1 && step % kBytes != 0) return false;
  }
  return tensor.strides()[3] == 1 || tensor.sizes()[3] == 1;
}

Tensor with_aligned_rows(const Tensor& tensor) {
  if (has_aligned_rows(tensor)) return tensor;
  return at::copy_(empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device()), tensor);
}

/// Memory for the gradient of a tensor, in the tensor's order if that leaves rows dense.
Tensor empty_gradient_of(const Tensor& tensor) {
  const DimVector strides = strides_in_order_of(tensor);
  return strides[3] == 1
             ? empty_strided_tensor(tensor.sizes(), strides, tensor.scalar_type(), tensor.device())
             : empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
}

/// The mask as numbers that are added to scores.
Tensor added_mask(const Tensor& mask) {
  if (!mask.defined()) return mask;
  if (mask.scalar_type() != kBool) return mask.to(kFloat);

  const Tensor numbers = empty_tensor(mask.sizes(), kFloat, mask.device()).zero_();
  return at::masked_fill_(numbers, at::logical_not(mask),
                          Scalar(-std::numeric_limits<double>::infinity()));
}

}  // namespace

void fused_attention_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                            const Tensor& attn_mask, const Tensor& kept, double dropout_p,
                            bool is_causal, bool, std::optional<double> scale, const Tensor& out0,
                            const Tensor& out1) {
  const double factor = attention_scale(query, scale);
  const AttentionArguments given{query, key, value, attn_mask, kept, dropout_p, is_causal, factor};
  if (!fits_cuda_kernels(given)) {
    const auto [out, logsumexp] = composed_attention(given);
    at::copy_(out0, out);
    at::copy_(out1, logsumexp);
    return;
  }
  if (out0.numel() == 0) return;

  const Tensor queries = with_aligned_rows(query);
  const Tensor keys = with_aligned_rows(key);
  const Tensor values = with_aligned_rows(value);
  const Tensor mask = added_mask(attn_mask);
  attention::forward({queries, keys, values, mask, kept, dropout_p, is_causal, factor}, out0, out1);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> fused_attention_backward_kernel(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& kept, const Tensor& out, const Tensor& logsumexp,
    double dropout_p, bool is_causal, bool mask_requires_grad, std::optional<double> scale) {
  if (!grad_out.defined()) return {};  // only logsumexp was used
  const double factor = attention_scale(query, scale);
  const AttentionArguments given{query, key, value, attn_mask, kept, dropout_p, is_causal, factor};
  check_fused_attention("_fused_attention_backward", given);
  check_mask_gradient(attn_mask, mask_requires_grad);
  check_fused_results(query, value, grad_out, out, logsumexp);
  const bool is_wide = query.size(3) > 64 || value.size(3) > 64;
  const bool has_room = !is_wide || c10::cuda::device_properties().sharedMemPerBlockOptin >=
                                        attention::kMostSharedMemory;
  if (!fits_cuda_kernels(given) || mask_requires_grad || !has_room)
    return composed_attention_backward(grad_out, given, mask_requires_grad);

  const Tensor grad_query = empty_gradient_of(query);
  const Tensor grad_key = empty_gradient_of(key);
  const Tensor grad_value = empty_gradient_of(value);
  if (out.numel() == 0) return {grad_query.zero_(), grad_key.zero_(), grad_value.zero_(), Tensor()};

  const Tensor queries = with_aligned_rows(query);
  const Tensor keys = with_aligned_rows(key);
  const Tensor values = with_aligned_rows(value);
  const Tensor mask = added_mask(attn_mask);
  attention::backward({queries, keys, values, mask, kept, dropout_p, is_causal, factor},
                      with_aligned_rows(grad_out), with_aligned_rows(out), logsumexp.contiguous(),
                      {grad_query, grad_key, grad_value});
  return {grad_query, grad_key, grad_value, Tensor()};
}

}  // namespace at::native::cuda
