// Our own products of vectors, and of a matrix and a vector, for one core; per instruction set.
#include <type_traits>

#include "aten/blas/tile/Kernels.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

/// a * b. Small unsigned numbers would be promoted to int, whose overflow is undefined.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t>)
    return static_cast<T>(uint32_t{a} * b);
  else return a * b;
}

/// Sums kept in parallel: the compiler may not reorder one sum into vectors itself.
constexpr int kPartialSums = 32;

template <class In, class T>
T dot(int64_t n, const In* x, int64_t incx, const In* y, int64_t incy) {
  T sum = T();
  int64_t i = 0;

  if (incx == 1 && incy == 1) {
    T partial[kPartialSums] = {};
    for (; i + kPartialSums <= n; i += kPartialSums) {
      for (int l = 0; l < kPartialSums; ++l) {
        partial[l] = static_cast<T>(partial[l] +
                                    product(static_cast<T>(x[i + l]), static_cast<T>(y[i + l])));
      }
    }

    // Add the partial sums in pairs.
    for (int width = kPartialSums / 2; width > 0; width /= 2) {
      for (int l = 0; l < width; ++l) partial[l] = static_cast<T>(partial[l] + partial[l + width]);
    }
    sum = partial[0];
  }

  for (; i < n; ++i)
    sum = static_cast<T>(sum + product(static_cast<T>(x[i * incx]), static_cast<T>(y[i * incy])));
  return sum;
}

template <class T>
void gemv(bool transpose, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x,
          T* __restrict y) {
  if (transpose) {
    for (int64_t j = 0; j < n; ++j) y[j] += alpha * dot<T, T>(m, a + j * lda, 1, x, 1);
    return;
  }

  int64_t j = 0;
  // Four columns for each pass over y.
  for (; j + 4 <= n; j += 4) {
    const T *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const T x0 = alpha * x[j], x1 = alpha * x[j + 1], x2 = alpha * x[j + 2], x3 = alpha * x[j + 3];
    for (int64_t i = 0; i < m; ++i) y[i] += a0[i] * x0 + a1[i] * x1 + a2[i] * x2 + a3[i] * x3;
  }
  for (; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) y[i] += alpha * x[j] * a[i + j * lda];
  }
}

}  // namespace

extern const VectorTable kVectorTable;
const VectorTable kVectorTable = {
    &gemv<float>,
    &gemv<double>,
    &dot<float, float>,
    &dot<double, double>,
    &dot<c10::BFloat16, float>,
    &dot<c10::Half, float>,
    &dot<uint8_t, uint8_t>,
    &dot<uint16_t, uint16_t>,
    &dot<uint32_t, uint32_t>,
    &dot<uint64_t, uint64_t>,
};

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
