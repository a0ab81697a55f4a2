// The linear layer on the CPU: the product adds a bias of one row itself. A few rows are multiplied
// by the packed weight, if that is kept.
#include <algorithm>
#include <cstring>

#include "aten/native/cpu/shared/PackedProduct.h"
#include "aten/native/declarations/cpu/nn/LinearKernel.isa.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Writes the bias to every row of the result.
void fill_rows(const Tensor& bias, int64_t rows, const Tensor& out) {
  const Tensor row = bias.contiguous();
  const int64_t bytes = row.numel() * static_cast<int64_t>(row.itemsize());
  char* target = static_cast<char*>(out.data());
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / std::max<int64_t>(1, bytes));
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(target + i * bytes, row.data(), bytes);
  });
}

}  // namespace

void linear_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t inner = input.size(-1);
  const int64_t outputs = weight.dim() == 1 ? 1 : weight.sizes()[0];
  const int64_t rows = out0.numel() / outputs;

  const Tensor matrix = input.reshape({rows, inner});
  const bool one_row = bias.defined() && bias.dim() == 1 && bias.numel() == outputs;
  if (weight.dim() == 2 && (one_row || !bias.defined()) && rows <= kMostPackedRows &&
      multiply_packed(matrix.contiguous(), weight, bias, out0)) {
    return;
  }
  if (one_row && weight.dim() == 2) {
    return matrix_product(matrix, weight.transpose(0, 1), 0, 1, out0.view({rows, outputs}), bias);
  }

  if (bias.defined() && weight.dim() == 1) {
    fill_rows(bias, rows, out0);
  } else if (bias.defined()) {
    at::copy_(out0.view({rows, outputs}),
              bias.numel() == out0.numel() ? bias.reshape({rows, outputs}) : bias);
  }

  const Scalar beta = bias.defined() ? 1 : 0;

  // A weight that is a vector gives one output.
  if (weight.dim() == 1) return matrix_vector_product(matrix, weight, beta, 1, out0.view({rows}));

  matrix_product(matrix, weight.transpose(0, 1), beta, 1, out0.view({rows, outputs}));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
