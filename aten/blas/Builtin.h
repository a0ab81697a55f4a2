// Our own products: the reference in tests, the fallback without a library, and for integers.
#pragma once

#include <cstdint>

#include "aten/blas/Blas.h"

namespace at::blas::builtin {

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c,
          int64_t ldc, const Epilogue<T>* epilogue = nullptr);

/// Whether gemm() computes a product of so many rows as dot products, without packing the lanes.
template <class T>
bool are_few(int64_t rows, int64_t depth, bool lanes_along_depth);

template <class T>
void gemm_batched_strided(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                          int64_t k, Scale<T> alpha, const T* a, int64_t lda, int64_t stride_a,
                          const T* b, int64_t ldb, int64_t stride_b, Scale<T> beta, T* c,
                          int64_t ldc, int64_t stride_c, int64_t batch,
                          const Epilogue<T>* epilogue);

template <class B>
void gemm_int8(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
               const int8_t* a, int64_t lda, const B* b, int64_t ldb, int32_t* c, int64_t ldc);

template <class T>
void gemm_int8_weight(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
                      const int8_t* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc,
                      const T* scale);

/// For measurements.
template <class T>
void gemm_on_one_thread(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                        int64_t k, Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                        Scale<T> beta, T* c, int64_t ldc);

template <class T>
void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a, int64_t lda,
          const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy);
template <class T>
T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, bool conjugate);

}  // namespace at::blas::builtin
