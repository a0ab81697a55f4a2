// Products of matrices whose elements are changed while they are in the cache.
#include "aten/native/declarations/cpu/linalg/MatrixProductKernel.isa.h"
#include "aten/native/shared/MatrixProduct.h"
#include "aten/ops/_gelu_exact.h"
#include "aten/ops/relu.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
void relu_line(T* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = x[i] < T(0) ? T(0) : x[i];  // nan stays
}

/// The formula of _gelu_exact.
template <class T>
void gelu_line(T* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = x[i] * T(0.5) * (T(1) + vec::erf(x[i] * T(0.7071067811865476)));
}

}  // namespace

void addmm_activation_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha, bool use_gelu,
                             const Tensor& out0) {
  const Activation then = use_gelu ? Activation{gelu_line<float>, gelu_line<double>}
                                   : Activation{relu_line<float>, relu_line<double>};
  matrix_product(mat1, mat2, beta, alpha, out0, self, then);

  // Integers are changed afterwards, and what is not supported is an error.
  if (!is_floating(out0.scalar_type()))
    out0.copy_(use_gelu ? at::_gelu_exact(out0) : at::relu(out0));
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
