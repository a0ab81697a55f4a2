// Our own products: the reference in tests, the fallback without a library, and for integers.
#pragma once

#include <cstdint>

#include "aten/blas/Blas.h"

namespace at::blas::builtin {

// Note [Builtin kernels]
// BuiltinKernels.isa.cpp is compiled once per instruction set and exports one table of
// single-threaded functions. In is the element type of A and B; T is the type of C, in which
// products are summed. Signed integers use the functions of unsigned ones, whose overflow is
// defined. Matrices with Transpose::Conjugate do not reach the kernels.
template <class In, class T>
using GemmKernel = void (*)(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                            T alpha, const In* a, int64_t lda, const In* b, int64_t ldb, T beta,
                            T* c, int64_t ldc);

/// y += alpha op(A) x with contiguous x and y.
template <class T>
using GemvKernel = void (*)(bool transpose, int64_t m, int64_t n, T alpha, const T* a, int64_t lda,
                            const T* x, T* y);
template <class In, class T>
using DotKernel = T (*)(int64_t n, const In* x, int64_t incx, const In* y, int64_t incy);

template <class In, class T>
struct Kernels {
  GemmKernel<In, T> gemm;
  DotKernel<In, T> dot;
};

/// All kernels for one instruction set.
struct Table {
  Kernels<float, float> f32;
  Kernels<double, double> f64;
  Kernels<c10::BFloat16, float> bf16;
  Kernels<c10::Half, float> f16;
  Kernels<uint8_t, uint8_t> u8;
  Kernels<uint16_t, uint16_t> u16;
  Kernels<uint32_t, uint32_t> u32;
  Kernels<uint64_t, uint64_t> u64;
  GemvKernel<float> gemv_f32;
  GemvKernel<double> gemv_f64;
};

/// The table for the instruction set of this processor.
const Table& table();

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c,
          int64_t ldc);
template <class T>
void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a, int64_t lda,
          const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy);
template <class T>
T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, bool conjugate);

/// c = sums + beta c, rounded to the type of c. `sums` is m x n and contiguous.
template <class T>
void add_rounded(int64_t m, int64_t n, const float* sums, float beta, T* c, int64_t ldc);

}  // namespace at::blas::builtin
