// The linear layer on the CPU: the product adds the bias itself. A few rows are multiplied by the
// packed weight, if that is kept.
#include "aten/native/declarations/cpu/nn/LinearKernel.isa.h"
#include "aten/native/cpu/shared/PackedProduct.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/copy.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void linear_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t inner = input.size(-1);
  const int64_t outputs = weight.dim() == 1 ? 1 : weight.sizes()[0];
  const int64_t rows = out0.numel() / outputs;
  const Tensor matrix = input.reshape({rows, inner});

  if (weight.dim() == 2) {
    const bool is_row = bias.defined() && bias.dim() == 1 && bias.numel() == outputs;
    if (rows <= kMostPackedRows && (is_row || !bias.defined()) &&
        multiply_packed(matrix.contiguous(), weight, bias, out0)) {
      return;
    }

    // A bias of the result's size is a matrix; everything else broadcasts to the rows.
    const bool is_whole = bias.defined() && bias.numel() == out0.numel();
    return matrix_product(matrix, weight.transpose(0, 1), bias.defined() ? 1 : 0, 1,
                          out0.view({rows, outputs}),
                          is_whole ? bias.reshape({rows, outputs}) : bias);
  }

  // A weight that is a vector gives one output, and its bias is a number.
  if (bias.defined()) at::copy_(out0, bias);
  matrix_vector_product(matrix, weight, bias.defined() ? 1 : 0, 1, out0.view({rows}));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
