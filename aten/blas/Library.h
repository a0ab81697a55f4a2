// MKL or OpenBLAS, whichever this build has, as overloads by element type.
#pragma once

#include <type_traits>

#include "aten/blas/Blas.h"

// Only Blas.cpp and Lapack.cpp include it.

#if defined(TORCH_PY_BLAS_MKL)
#include <mkl_cblas.h>
#include <mkl_service.h>
#define AT_CBLAS(NAME) cblas_##NAME
#elif defined(TORCH_PY_BLAS_OPENBLAS)
#include <cblas.h>
#ifndef TORCH_PY_OPENBLAS_PREFIX
#define TORCH_PY_OPENBLAS_PREFIX
#endif
#define AT_CBLAS_JOIN2(PREFIX, NAME) PREFIX##NAME
#define AT_CBLAS_JOIN(PREFIX, NAME) AT_CBLAS_JOIN2(PREFIX, NAME)
#define AT_OPENBLAS(NAME) AT_CBLAS_JOIN(TORCH_PY_OPENBLAS_PREFIX, NAME)
#define AT_CBLAS(NAME) AT_OPENBLAS(cblas_##NAME)
#include <atomic>
#endif

namespace at::blas::library {

#if defined(TORCH_PY_BLAS_MKL) || defined(TORCH_PY_BLAS_OPENBLAS)

#if defined(TORCH_PY_BLAS_MKL)
inline constexpr const char* kName = "mkl";
/// MKL keeps a number per calling thread; its parallel regions are libgomp's, like ours.
inline void set_threads(int count) { mkl_set_num_threads_local(count); }
#else
inline constexpr const char* kName = "openblas";
/// OpenBLAS has its own pool and one number for the process, which is costly to change.
inline void set_threads(int count) {
  static std::atomic<int> current{-1};
  if (current.exchange(count) != count) AT_OPENBLAS(openblas_set_num_threads)(count);
}
#endif

inline CBLAS_TRANSPOSE flag(Transpose transpose) {
  return transpose == Transpose::None        ? CblasNoTrans
         : transpose == Transpose::Transpose ? CblasTrans
                                             : CblasConjTrans;
}

#define AT_BLAS_LIBRARY_TYPE(T, LETTER, SCALAR)                                                   \
  inline void gemm(Transpose ta, Transpose tb, int m, int n, int k, T alpha, const T* a, int lda, \
                   const T* b, int ldb, T beta, T* c, int ldc) {                                  \
    AT_CBLAS(LETTER##gemm)(CblasColMajor, flag(ta), flag(tb), m, n, k, SCALAR(alpha), a, lda, b,  \
                           ldb, SCALAR(beta), c, ldc);                                            \
  }                                                                                               \
  inline void gemv(Transpose transpose, int m, int n, T alpha, const T* a, int lda, const T* x,   \
                   int incx, T beta, T* y, int incy) {                                            \
    AT_CBLAS(LETTER##gemv)(CblasColMajor, flag(transpose), m, n, SCALAR(alpha), a, lda, x, incx,  \
                           SCALAR(beta), y, incy);                                                \
  }
#define AT_BLAS_BY_VALUE(X) X
#define AT_BLAS_BY_ADDRESS(X) (&(X))
AT_BLAS_LIBRARY_TYPE(float, s, AT_BLAS_BY_VALUE)
AT_BLAS_LIBRARY_TYPE(double, d, AT_BLAS_BY_VALUE)
AT_BLAS_LIBRARY_TYPE(c10::complex<float>, c, AT_BLAS_BY_ADDRESS)
AT_BLAS_LIBRARY_TYPE(c10::complex<double>, z, AT_BLAS_BY_ADDRESS)
#undef AT_BLAS_LIBRARY_TYPE

inline float dot(int n, const float* x, int incx, const float* y, int incy, bool) {
  return AT_CBLAS(sdot)(n, x, incx, y, incy);
}
inline double dot(int n, const double* x, int incx, const double* y, int incy, bool) {
  return AT_CBLAS(ddot)(n, x, incx, y, incy);
}

#define AT_BLAS_COMPLEX_DOT(T, LETTER)                                                         \
  inline T dot(int n, const T* x, int incx, const T* y, int incy, bool conjugate) {            \
    T result;                                                                                  \
    (conjugate ? AT_CBLAS(LETTER##dotc_sub) : AT_CBLAS(LETTER##dotu_sub))(n, x, incx, y, incy, \
                                                                          &result);            \
    return result;                                                                             \
  }
AT_BLAS_COMPLEX_DOT(c10::complex<float>, c)
AT_BLAS_COMPLEX_DOT(c10::complex<double>, z)
#undef AT_BLAS_COMPLEX_DOT

template <class T>
inline constexpr bool serves =
    std::is_same_v<T, float> || std::is_same_v<T, double> || c10::is_complex_v<T>;

#else  // our own implementation only

inline constexpr const char* kName = "builtin";
inline void set_threads(int) {}
template <class T>
inline constexpr bool serves = false;
// Branches that are never compiled name these.
template <class... Arguments>
void gemm(const Arguments&...) = delete;
template <class... Arguments>
void gemv(const Arguments&...) = delete;
template <class... Arguments>
void dot(const Arguments&...) = delete;

#endif

#if defined(TORCH_PY_BLAS_MKL)
/// An extension of MKL: inputs of 16 bits, a result of 32.
inline void gemm_bfloat16(Transpose ta, Transpose tb, int m, int n, int k, float alpha,
                          const c10::BFloat16* a, int lda, const c10::BFloat16* b, int ldb,
                          float beta, float* c, int ldc) {
  cblas_gemm_bf16bf16f32(CblasColMajor, flag(ta), flag(tb), m, n, k, alpha,
                         reinterpret_cast<const MKL_BF16*>(a), lda,
                         reinterpret_cast<const MKL_BF16*>(b), ldb, beta, c, ldc);
}

inline constexpr bool kHasBatchedGemm = true;
#define AT_BLAS_BATCHED(T, LETTER, SCALAR)                                                        \
  inline void gemm_batched(Transpose ta, Transpose tb, int m, int n, int k, T alpha, const T* a,  \
                           int lda, int64_t stride_a, const T* b, int ldb, int64_t stride_b,      \
                           T beta, T* c, int ldc, int64_t stride_c, int batch) {                  \
    cblas_##LETTER##gemm_batch_strided(CblasColMajor, flag(ta), flag(tb), m, n, k, SCALAR(alpha), \
                                       a, lda, static_cast<MKL_INT>(stride_a), b, ldb,            \
                                       static_cast<MKL_INT>(stride_b), SCALAR(beta), c, ldc,      \
                                       static_cast<MKL_INT>(stride_c), batch);                    \
  }
AT_BLAS_BATCHED(float, s, AT_BLAS_BY_VALUE)
AT_BLAS_BATCHED(double, d, AT_BLAS_BY_VALUE)
AT_BLAS_BATCHED(c10::complex<float>, c, AT_BLAS_BY_ADDRESS)
AT_BLAS_BATCHED(c10::complex<double>, z, AT_BLAS_BY_ADDRESS)
#undef AT_BLAS_BATCHED
#else
inline constexpr bool kHasBatchedGemm = false;
template <class... Arguments>
void gemm_batched(const Arguments&...) = delete;
#endif

}  // namespace at::blas::library
