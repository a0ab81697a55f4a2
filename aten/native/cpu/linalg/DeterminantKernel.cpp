// Determinants, computed from the LU factors of each matrix.
#include <cmath>

#include "aten/native/declarations/cpu/linalg/DeterminantKernel.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/copy.h"

namespace at::native {

namespace {

/// Whether the number of row exchanges is odd, which changes the sign of the determinant.
bool is_odd(const int32_t* pivots, int64_t n) {
  bool odd = false;
  for (int64_t i = 0; i < n; ++i) odd ^= pivots[i] != i + 1;
  return odd;
}

/// Factors A into LU and pivots, then calls f(index, LU, pivots).
template <class T, class Function>
void with_factors(const Tensor& A, const Tensor& LU, const Tensor& pivots, const Function& f) {
  const int64_t n = A.size(-1);
  at::copy_(LU, A);

  const auto factors = matrices_of<T>(LU);
  const auto exchanges = vectors_of<int32_t>(pivots);

  for_each_matrix(matrix_count(A), cube(n), [&](int64_t i) {
    if (n > 0) lapack::getrf<T>(n, n, factors[i], n, exchanges[i]);
    f(i, factors[i], exchanges[i]);
  });
}

}  // namespace

void linalg_det_kernel(const Tensor& A, const Tensor& out0, const Tensor& out1,
                       const Tensor& out2) {
  const int64_t n = A.size(-1);
  for_matrix_type(A.scalar_type(), "lu_cpu", [&]<class T>() {
    const auto result = scalars_of<T>(out0);
    with_factors<T>(A, out1, out2, [&](int64_t i, const T* LU, const int32_t* pivots) {
      T product = is_odd(pivots, n) ? T(-1) : T(1);
      for (int64_t j = 0; j < n; ++j) product = product * LU[j * (n + 1)];
      *result[i] = product;
    });
  });
}

void linalg_slogdet_kernel(const Tensor& A, const Tensor& out0, const Tensor& out1,
                           const Tensor& out2, const Tensor& out3) {
  const int64_t n = A.size(-1);
  for_matrix_type(A.scalar_type(), "lu_cpu", [&]<class T>() {
    using real_t = lapack::Real<T>;
    const auto signs = scalars_of<T>(out0);
    const auto logarithms = scalars_of<real_t>(out1);
    with_factors<T>(A, out2, out3, [&](int64_t i, const T* LU, const int32_t* pivots) {
      T sign = is_odd(pivots, n) ? T(-1) : T(1);
      real_t logarithm = 0;

      for (int64_t j = 0; j < n; ++j) {
        const T value = LU[j * (n + 1)];
        real_t size;
        if constexpr (c10::is_complex_v<T>) {
          size = std::hypot(value.real(), value.imag());
          sign = size == 0 ? T(0) : sign * T(value.real() / size, value.imag() / size);
        } else {
          size = std::abs(value);
          sign *= static_cast<T>((value > 0) - (value < 0));  // 0 for nan, as in PyTorch
        }

        logarithm += std::log(size);
      }

      *signs[i] = sign;
      *logarithms[i] = logarithm;
    });
  });
}

}  // namespace at::native
