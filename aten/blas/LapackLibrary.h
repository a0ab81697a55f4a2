// The LAPACK functions of MKL, OpenBLAS or a library that is loaded, as overloads by element type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/blas/Lapack.h"
#include "aten/blas/LapackLoader.h"
#include "aten/blas/Library.h"

// Only Lapack.cpp includes it.
//
// The Fortran functions are declared here rather than taken from a header: the headers of the two
// libraries differ, and both leave out the hidden lengths that Fortran compilers expect after the
// arguments, one per character argument. MKL ignores them.

#if defined(TORCH_PY_BLAS_OPENBLAS)
#ifndef TORCH_PY_OPENBLAS_PREFIX
#define TORCH_PY_OPENBLAS_PREFIX
#endif
#define AT_LAPACK_JOIN2(PREFIX, NAME) PREFIX##NAME##_
#define AT_LAPACK_JOIN(PREFIX, NAME) AT_LAPACK_JOIN2(PREFIX, NAME)
#define AT_LAPACK(NAME) AT_LAPACK_JOIN(TORCH_PY_OPENBLAS_PREFIX, NAME)
#else
#define AT_LAPACK(NAME) NAME##_
#endif

#if defined(TORCH_PY_BLAS_MKL) || defined(TORCH_PY_BLAS_OPENBLAS)
#define AT_LAPACK_CALL(NAME) AT_LAPACK(NAME)
#else
// The declaration only gives the type.
#define AT_LAPACK_CALL(NAME)                                                                    \
  ([] {                                                                                         \
    static const auto function = reinterpret_cast<decltype(&AT_LAPACK(NAME))>(find(#NAME "_")); \
    return function;                                                                            \
  }())
#endif

namespace at::lapack::library {

#if defined(TORCH_PY_BLAS_MKL) || defined(TORCH_PY_BLAS_OPENBLAS)
inline bool is_available() { return true; }
inline void set_threads(int count) { blas::library::set_threads(count); }
#endif

// The functions that real and complex types share. OR and SY are or, sy for real types and un, he
// for complex ones.
#define AT_LAPACK_TYPE(T, L, OR)                                                                   \
  extern "C" {                                                                                     \
  void AT_LAPACK(L##getrf)(const int*, const int*, T*, const int*, int*, int*);                    \
  void AT_LAPACK(L##getrs)(const char*, const int*, const int*, const T*, const int*, const int*,  \
                           T*, const int*, int*, size_t);                                          \
  void AT_LAPACK(L##potrf)(const char*, const int*, T*, const int*, int*, size_t);                 \
  void AT_LAPACK(L##potrs)(const char*, const int*, const int*, const T*, const int*, T*,          \
                           const int*, int*, size_t);                                              \
  void AT_LAPACK(L##potri)(const char*, const int*, T*, const int*, int*, size_t);                 \
  void AT_LAPACK(L##sytrf)(const char*, const int*, T*, const int*, int*, T*, const int*, int*,    \
                           size_t);                                                                \
  void AT_LAPACK(L##sytrs)(const char*, const int*, const int*, const T*, const int*, const int*,  \
                           T*, const int*, int*, size_t);                                          \
  void AT_LAPACK(L##geqrf)(const int*, const int*, T*, const int*, T*, T*, const int*, int*);      \
  void AT_LAPACK(L##OR##gqr)(const int*, const int*, const int*, T*, const int*, const T*, T*,     \
                             const int*, int*);                                                    \
  void AT_LAPACK(L##OR##mqr)(const char*, const char*, const int*, const int*, const int*,         \
                             const T*, const int*, const T*, T*, const int*, T*, const int*, int*, \
                             size_t, size_t);                                                      \
  void AT_LAPACK(L##gels)(const char*, const int*, const int*, const int*, T*, const int*, T*,     \
                          const int*, T*, const int*, int*, size_t);                               \
  void AT_LAPACK(L##trsm)(const char*, const char*, const char*, const char*, const int*,          \
                          const int*, const T*, const T*, const int*, T*, const int*, size_t,      \
                          size_t, size_t, size_t);                                                 \
  }                                                                                                \
  inline void getrf(int m, int n, T* a, int lda, int* pivots, int* info) {                         \
    AT_LAPACK_CALL(L##getrf)(&m, &n, a, &lda, pivots, info);                                       \
  }                                                                                                \
  inline void getrs(char trans, int n, int columns, const T* a, int lda, const int* pivots, T* b,  \
                    int ldb, int* info) {                                                          \
    AT_LAPACK_CALL(L##getrs)(&trans, &n, &columns, a, &lda, pivots, b, &ldb, info, 1);             \
  }                                                                                                \
  inline void potrf(char uplo, int n, T* a, int lda, int* info) {                                  \
    AT_LAPACK_CALL(L##potrf)(&uplo, &n, a, &lda, info, 1);                                         \
  }                                                                                                \
  inline void potrs(char uplo, int n, int columns, const T* a, int lda, T* b, int ldb,             \
                    int* info) {                                                                   \
    AT_LAPACK_CALL(L##potrs)(&uplo, &n, &columns, a, &lda, b, &ldb, info, 1);                      \
  }                                                                                                \
  inline void potri(char uplo, int n, T* a, int lda, int* info) {                                  \
    AT_LAPACK_CALL(L##potri)(&uplo, &n, a, &lda, info, 1);                                         \
  }                                                                                                \
  inline void sytrf(char uplo, int n, T* a, int lda, int* pivots, T* work, int size, int* info) {  \
    AT_LAPACK_CALL(L##sytrf)(&uplo, &n, a, &lda, pivots, work, &size, info, 1);                    \
  }                                                                                                \
  inline void sytrs(char uplo, int n, int columns, const T* a, int lda, const int* pivots, T* b,   \
                    int ldb, int* info) {                                                          \
    AT_LAPACK_CALL(L##sytrs)(&uplo, &n, &columns, a, &lda, pivots, b, &ldb, info, 1);              \
  }                                                                                                \
  inline void geqrf(int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {           \
    AT_LAPACK_CALL(L##geqrf)(&m, &n, a, &lda, tau, work, &size, info);                             \
  }                                                                                                \
  inline void orgqr(int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,           \
                    int* info) {                                                                   \
    AT_LAPACK_CALL(L##OR##gqr)(&m, &n, &k, a, &lda, tau, work, &size, info);                       \
  }                                                                                                \
  inline void ormqr(char side, char trans, int m, int n, int k, const T* a, int lda, const T* tau, \
                    T* c, int ldc, T* work, int size, int* info) {                                 \
    if (trans == 'C' && !c10::is_complex_v<T>) trans = 'T';                                        \
    AT_LAPACK_CALL(L##OR##mqr)(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &size,      \
                               info, 1, 1);                                                        \
  }                                                                                                \
  inline void gels(char trans, int m, int n, int columns, T* a, int lda, T* b, int ldb, T* work,   \
                   int size, int* info) {                                                          \
    AT_LAPACK_CALL(L##gels)(&trans, &m, &n, &columns, a, &lda, b, &ldb, work, &size, info, 1);     \
  }                                                                                                \
  inline void trsm(char side, char uplo, char trans, char diagonal, int m, int n, T alpha,         \
                   const T* a, int lda, T* b, int ldb) {                                           \
    AT_LAPACK_CALL(L##trsm)(&side, &uplo, &trans, &diagonal, &m, &n, &alpha, a, &lda, b, &ldb, 1,  \
                            1, 1, 1);                                                              \
  }

#define AT_LAPACK_REAL(T, L)                                                                       \
  extern "C" {                                                                                     \
  void AT_LAPACK(L##gesdd)(const char*, const int*, const int*, T*, const int*, T*, T*,            \
                           const int*, T*, const int*, T*, const int*, int*, int*, size_t);        \
  void AT_LAPACK(L##syevd)(const char*, const char*, const int*, T*, const int*, T*, T*,           \
                           const int*, int*, const int*, int*, size_t, size_t);                    \
  void AT_LAPACK(L##geev)(const char*, const char*, const int*, T*, const int*, T*, T*, T*,        \
                          const int*, T*, const int*, T*, const int*, int*, size_t, size_t);       \
  void AT_LAPACK(L##gelsy)(const int*, const int*, const int*, T*, const int*, T*, const int*,     \
                           int*, const T*, int*, T*, const int*, int*);                            \
  void AT_LAPACK(L##gelsd)(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, \
                           const T*, int*, T*, const int*, int*, int*);                            \
  void AT_LAPACK(L##gelss)(const int*, const int*, const int*, T*, const int*, T*, const int*, T*, \
                           const T*, int*, T*, const int*, int*);                                  \
  }                                                                                                \
  inline void gesdd(char job, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vh, int ldvh,   \
                    T* work, int size, T*, int* indices, int* info) {                              \
    AT_LAPACK_CALL(L##gesdd)(&job, &m, &n, a, &lda, s, u, &ldu, vh, &ldvh, work, &size, indices,   \
                             info, 1);                                                             \
  }                                                                                                \
  inline void syevd(char job, char uplo, int n, T* a, int lda, T* values, T* work, int size, T*,   \
                    int, int* indices, int index_size, int* info) {                                \
    AT_LAPACK_CALL(L##syevd)(&job, &uplo, &n, a, &lda, values, work, &size, indices, &index_size,  \
                             info, 1, 1);                                                          \
  }                                                                                                \
  inline void hetrf(char uplo, int n, T* a, int lda, int* pivots, T* work, int size, int* info) {  \
    sytrf(uplo, n, a, lda, pivots, work, size, info);                                              \
  }                                                                                                \
  inline void hetrs(char uplo, int n, int columns, const T* a, int lda, const int* pivots, T* b,   \
                    int ldb, int* info) {                                                          \
    sytrs(uplo, n, columns, a, lda, pivots, b, ldb, info);                                         \
  }                                                                                                \
  inline void geev(char job, int n, T* a, int lda, T* real, T* imaginary, T* v, int ldv, T* work,  \
                   int size, int* info) {                                                          \
    const char none = 'N';                                                                         \
    const int one = 1;                                                                             \
    T unused{};                                                                                    \
    AT_LAPACK_CALL(L##geev)(&none, &job, &n, a, &lda, real, imaginary, &unused, &one, v, &ldv,     \
                            work, &size, info, 1, 1);                                              \
  }                                                                                                \
  inline void gelsy(int m, int n, int columns, T* a, int lda, T* b, int ldb, int* free_columns,    \
                    T rcond, int* rank, T* work, int size, T*, int* info) {                        \
    AT_LAPACK_CALL(L##gelsy)(&m, &n, &columns, a, &lda, b, &ldb, free_columns, &rcond, rank, work, \
                             &size, info);                                                         \
  }                                                                                                \
  inline void gelsd(int m, int n, int columns, T* a, int lda, T* b, int ldb, T* values, T rcond,   \
                    int* rank, T* work, int size, T*, int* indices, int* info) {                   \
    AT_LAPACK_CALL(L##gelsd)(&m, &n, &columns, a, &lda, b, &ldb, values, &rcond, rank, work,       \
                             &size, indices, info);                                                \
  }                                                                                                \
  inline void gelss(int m, int n, int columns, T* a, int lda, T* b, int ldb, T* values, T rcond,   \
                    int* rank, T* work, int size, T*, int* info) {                                 \
    AT_LAPACK_CALL(L##gelss)(&m, &n, &columns, a, &lda, b, &ldb, values, &rcond, rank, work,       \
                             &size, info);                                                         \
  }

#define AT_LAPACK_COMPLEX(T, R, L)                                                                 \
  extern "C" {                                                                                     \
  void AT_LAPACK(L##hetrf)(const char*, const int*, T*, const int*, int*, T*, const int*, int*,    \
                           size_t);                                                                \
  void AT_LAPACK(L##hetrs)(const char*, const int*, const int*, const T*, const int*, const int*,  \
                           T*, const int*, int*, size_t);                                          \
  void AT_LAPACK(L##gesdd)(const char*, const int*, const int*, T*, const int*, R*, T*,            \
                           const int*, T*, const int*, T*, const int*, R*, int*, int*, size_t);    \
  void AT_LAPACK(L##heevd)(const char*, const char*, const int*, T*, const int*, R*, T*,           \
                           const int*, R*, const int*, int*, const int*, int*, size_t, size_t);    \
  void AT_LAPACK(L##geev)(const char*, const char*, const int*, T*, const int*, T*, T*,            \
                          const int*, T*, const int*, T*, const int*, R*, int*, size_t, size_t);   \
  void AT_LAPACK(L##gelsy)(const int*, const int*, const int*, T*, const int*, T*, const int*,     \
                           int*, const R*, int*, T*, const int*, R*, int*);                        \
  void AT_LAPACK(L##gelsd)(const int*, const int*, const int*, T*, const int*, T*, const int*, R*, \
                           const R*, int*, T*, const int*, R*, int*, int*);                        \
  void AT_LAPACK(L##gelss)(const int*, const int*, const int*, T*, const int*, T*, const int*, R*, \
                           const R*, int*, T*, const int*, R*, int*);                              \
  }                                                                                                \
  inline void gesdd(char job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vh, int ldvh,   \
                    T* work, int size, R* real_work, int* indices, int* info) {                    \
    AT_LAPACK_CALL(L##gesdd)(&job, &m, &n, a, &lda, s, u, &ldu, vh, &ldvh, work, &size, real_work, \
                             indices, info, 1);                                                    \
  }                                                                                                \
  inline void syevd(char job, char uplo, int n, T* a, int lda, R* values, T* work, int size,       \
                    R* real_work, int real_size, int* indices, int index_size, int* info) {        \
    AT_LAPACK_CALL(L##heevd)(&job, &uplo, &n, a, &lda, values, work, &size, real_work, &real_size, \
                             indices, &index_size, info, 1, 1);                                    \
  }                                                                                                \
  inline void hetrf(char uplo, int n, T* a, int lda, int* pivots, T* work, int size, int* info) {  \
    AT_LAPACK_CALL(L##hetrf)(&uplo, &n, a, &lda, pivots, work, &size, info, 1);                    \
  }                                                                                                \
  inline void hetrs(char uplo, int n, int columns, const T* a, int lda, const int* pivots, T* b,   \
                    int ldb, int* info) {                                                          \
    AT_LAPACK_CALL(L##hetrs)(&uplo, &n, &columns, a, &lda, pivots, b, &ldb, info, 1);              \
  }                                                                                                \
  inline void geev(char job, int n, T* a, int lda, T* values, T* v, int ldv, T* work, int size,    \
                   R* real_work, int* info) {                                                      \
    const char none = 'N';                                                                         \
    const int one = 1;                                                                             \
    T unused{};                                                                                    \
    AT_LAPACK_CALL(L##geev)(&none, &job, &n, a, &lda, values, &unused, &one, v, &ldv, work, &size, \
                            real_work, info, 1, 1);                                                \
  }                                                                                                \
  inline void gelsy(int m, int n, int columns, T* a, int lda, T* b, int ldb, int* free_columns,    \
                    R rcond, int* rank, T* work, int size, R* real_work, int* info) {              \
    AT_LAPACK_CALL(L##gelsy)(&m, &n, &columns, a, &lda, b, &ldb, free_columns, &rcond, rank, work, \
                             &size, real_work, info);                                              \
  }                                                                                                \
  inline void gelsd(int m, int n, int columns, T* a, int lda, T* b, int ldb, R* values, R rcond,   \
                    int* rank, T* work, int size, R* real_work, int* indices, int* info) {         \
    AT_LAPACK_CALL(L##gelsd)(&m, &n, &columns, a, &lda, b, &ldb, values, &rcond, rank, work,       \
                             &size, real_work, indices, info);                                     \
  }                                                                                                \
  inline void gelss(int m, int n, int columns, T* a, int lda, T* b, int ldb, R* values, R rcond,   \
                    int* rank, T* work, int size, R* real_work, int* info) {                       \
    AT_LAPACK_CALL(L##gelss)(&m, &n, &columns, a, &lda, b, &ldb, values, &rcond, rank, work,       \
                             &size, real_work, info);                                              \
  }

AT_LAPACK_TYPE(float, s, or)
AT_LAPACK_TYPE(double, d, or)
AT_LAPACK_TYPE(c10::complex<float>, c, un)
AT_LAPACK_TYPE(c10::complex<double>, z, un)
AT_LAPACK_REAL(float, s)
AT_LAPACK_REAL(double, d)
AT_LAPACK_COMPLEX(c10::complex<float>, float, c)
AT_LAPACK_COMPLEX(c10::complex<double>, double, z)
#undef AT_LAPACK_TYPE
#undef AT_LAPACK_REAL
#undef AT_LAPACK_COMPLEX

}  // namespace at::lapack::library
