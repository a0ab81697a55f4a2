// The linear layer on CUDA: a product that adds the bias.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/linalg/MatrixProducts.h"

namespace at::native::cuda {

void linear_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t inner = input.size(-1);
  const int64_t outputs = weight.dim() == 1 ? 1 : weight.sizes()[0];
  const int64_t rows = out0.numel() / outputs;
  const Tensor matrix = input.reshape({rows, inner});
  const Tensor columns = weight.dim() == 1 ? weight.unsqueeze(1) : weight.transpose(0, 1);

  // A bias of the result's size is a matrix; everything else broadcasts to the rows.
  const bool is_whole = bias.defined() && bias.numel() == out0.numel() && bias.dim() > 1;
  matrix_product("linear", matrix, columns, bias.defined() ? 1 : 0, 1, out0.view({rows, outputs}),
                 is_whole ? bias.reshape({rows, outputs}) : bias);
}

}  // namespace at::native::cuda
