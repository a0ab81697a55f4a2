// Translates strides into the terms of cuBLASLt; multiplies integers, which it does not know.
#include "aten/native/cuda/linalg/MatrixProducts.h"

#include "aten/Dispatch.h"
#include "aten/native/cuda/CublasProduct.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/copy.h"

namespace at::native::cuda {

namespace {

constexpr uintptr_t kBiasAlignment = 16;

/// out = alpha * a @ b + beta * out, a thread for each element.
template <class T>
struct IntegerProduct {
  struct Operand {
    const T* data;
    int64_t batch_stride;
    int64_t outer_stride;
    int64_t inner_stride;  // of the dimension that is summed

    SIMT_DEVICE const T* line(int64_t batch, int64_t outer) const {
      return data + batch * batch_stride + outer * outer_stride;
    }
  };

  T* out;
  Operand a;
  Operand b;
  int64_t rows;
  int64_t columns;
  int64_t inner;
  T alpha;
  T beta;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t column = index % columns;
    const int64_t row = index / columns % rows;
    const int64_t batch = index / columns / rows;
    const T* x = a.line(batch, row);
    const T* y = b.line(batch, column);

    T sum = 0;
    for (int64_t i = 0; i < inner; ++i, x += a.inner_stride, y += b.inner_stride)
      sum = static_cast<T>(sum + *x * *y);
    sum = static_cast<T>(alpha * sum);
    out[index] = beta == T(0) ? sum : static_cast<T>(sum + beta * out[index]);
  }
};

void multiply_integers(const char* name, const Tensor& a, const Tensor& b, const Scalar& beta,
                       const Scalar& alpha, const Tensor& out) {
  AT_DISPATCH_INTEGRAL(out.scalar_type(), "addmm_impl_cuda", [&] {
    using Loop = IntegerProduct<scalar_t>;
    const auto operand = [](const Tensor& tensor, int64_t outer, int64_t inner) {
      return typename Loop::Operand{tensor.const_data_ptr<scalar_t>(),
                                    tensor.dim() == 3 ? tensor.stride(0) : 0, tensor.stride(outer),
                                    tensor.stride(inner)};
    };
    per_index(name, out.numel(),
              Loop{out.data_ptr<scalar_t>(), operand(a, -2, -1), operand(b, -1, -2), out.size(-2),
                   out.size(-1), a.size(-1), alpha.to<scalar_t>(), beta.to<scalar_t>()});
  });
}

ProductOperand operand_of(const BlasMatrix& matrix) {
  return {matrix.tensor.get().data(), matrix.leading, matrix.batch_stride,
          matrix.transpose != blas::Transpose::None};
}

/// Whether cuBLASLt can add `added` as a bias: one element for each column of `out`.
bool is_bias(const Tensor& added, const Scalar& beta, const Tensor& out) {
  const bool is_row = added.dim() == 1 || (added.dim() == 2 && added.sizes()[0] == 1);
  const auto address = reinterpret_cast<uintptr_t>(added.data());
  return out.dim() == 2 && has_epilogues(out.scalar_type()) &&
         added.scalar_type() == out.scalar_type() && beta.equal(1) && is_row &&
         added.numel() == out.size(1) && added.is_contiguous() && address % kBiasAlignment == 0;
}

}  // namespace

void matrix_product(const char* name, const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha, const Tensor& out, const Tensor& added, c10::Tf32Use use) {
  if (out.numel() == 0) return;

  const bool adds_bias = added.defined() && a.size(-1) > 0 && is_bias(added, beta, out);
  if (added.defined() && !adds_bias && !beta.equal(0)) at::copy_(out, added);
  if (is_integral(out.scalar_type(), true)) return multiply_integers(name, a, b, beta, alpha, out);
  if (a.size(-1) == 0) return scale_product(out, beta);

  // Column-major, the result is the product of the transposes in the other order: see Note
  // [Row-major products].
  const BlasMatrix left = blas_matrix(PlannedTensor::borrowed(b));
  const BlasMatrix right = blas_matrix(PlannedTensor::borrowed(a));
  Product product;
  product.dtype = a.scalar_type();
  product.result_dtype = out.scalar_type();
  product.m = b.size(-1);
  product.n = a.size(-2);
  product.k = a.size(-1);
  product.batch = out.dim() == 3 ? out.sizes()[0] : 1;
  product.left = operand_of(left);
  product.right = operand_of(right);
  product.result = out.data();
  product.tf32 = c10::tf32_allowed(use);
  product.alpha = alpha;
  product.beta = adds_bias ? Scalar(0) : beta;
  if (adds_bias) {
    product.epilogue = c10::cuda::cublaslt::Epilogue::Bias;
    product.bias = added.data();
  }
  multiply(name, product);
}

}  // namespace at::native::cuda
