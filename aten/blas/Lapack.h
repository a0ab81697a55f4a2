// LAPACK behind one interface: factorisations, and the systems solved with them.
#pragma once

#include <cstdint>

#include "aten/blas/Blas.h"

// It is in the same shared object as the products. Matrices are column-major; the element types are
// float, double, complex<float> and complex<double>. Nothing here checks arguments; callers do, and
// call nothing that needs a library unless available(). Work space is allocated inside. Results
// named `info` are LAPACK's: 0 for success, i > 0 for a failure at column i. Indices of rows and
// columns count from 1, as in LAPACK.

namespace at::lapack {

using blas::Transpose;

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<c10::complex<T>> {
  using type = T;
};

/// float for complex<float>.
template <class T>
using Real = typename RealOf<T>::type;

/// Whether there is a library. Only getrf, getrs, potrf, potrs, potri and trsm do without.
TORCH_PY_API bool available();

/// A = P L U of an m x n matrix, in its place; pivots has min(m, n) elements.
template <class T>
TORCH_PY_API int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots);

/// op(A) X = B from the factors, in the place of B.
template <class T>
TORCH_PY_API void getrs(Transpose transpose, int64_t n, int64_t columns, const T* factors,
                        int64_t lda, const int32_t* pivots, T* b, int64_t ldb);

/// A = L L^H or U^H U. The other triangle is not touched.
template <class T>
TORCH_PY_API int potrf(bool upper, int64_t n, T* a, int64_t lda);
/// A X = B from the factor, in the place of B.
template <class T>
TORCH_PY_API void potrs(bool upper, int64_t n, int64_t columns, const T* factor, int64_t lda, T* b,
                        int64_t ldb);
/// One triangle of A^-1 from the factor.
template <class T>
TORCH_PY_API int potri(bool upper, int64_t n, T* factor, int64_t lda);

/// A = L D L^T (`hermitian`: L D L^H) with blocks of one and two rows in D, from and in the lower
/// triangle. Pivots are Bunch and Kaufman's.
template <class T>
TORCH_PY_API int sytrf(bool hermitian, int64_t n, T* a, int64_t lda, int32_t* pivots);
/// A X = B from these factors, in the place of B.
template <class T>
TORCH_PY_API void sytrs(bool hermitian, int64_t n, int64_t columns, const T* factors, int64_t lda,
                        const int32_t* pivots, T* b, int64_t ldb);

/// A = Q R: R in the upper triangle, the reflectors that make Q below it, their factors in tau.
template <class T>
TORCH_PY_API void geqrf(int64_t m, int64_t n, T* a, int64_t lda, T* tau);
/// The first n columns of the product of k reflectors, in the place of an m x n matrix that holds
/// them.
template <class T>
TORCH_PY_API void orgqr(int64_t m, int64_t n, int64_t k, T* a, int64_t lda, const T* tau);
/// C = op(Q) C or C op(Q) for an m x n matrix C.
template <class T>
TORCH_PY_API void ormqr(bool left, Transpose transpose, int64_t m, int64_t n, int64_t k, const T* a,
                        int64_t lda, const T* tau, T* c, int64_t ldc);

/// A = U diag(s) V^H; job is 'A' (all of U and V), 'S' (the first min(m, n) vectors) or 'N' (values
/// only). A is destroyed.
template <class T>
TORCH_PY_API int gesdd(char job, int64_t m, int64_t n, T* a, int64_t lda, Real<T>* s, T* u,
                       int64_t ldu, T* vh, int64_t ldvh);
/// Eigenvalues of a Hermitian matrix in ascending order; the vectors take its place.
template <class T>
TORCH_PY_API int syevd(bool vectors, bool upper, int64_t n, T* a, int64_t lda, Real<T>* values);
/// Eigenvalues and, if v is not null, right eigenvectors (n apart) of any square matrix, which is
/// destroyed.
template <class T>
TORCH_PY_API int geev(int64_t n, T* a, int64_t lda, c10::complex<Real<T>>* values,
                      c10::complex<Real<T>>* v);

/// LAPACK's gels, gelsy, gelsd and gelss.
enum class LeastSquares : uint8_t { Qr, PivotedQr, DivideAndConquer, Svd };

/// The X of least norm among those that minimise |A X - B|, in the first n rows of B, which has
/// max(m, n) rows. A is destroyed. `values` has min(m, n) elements and is not set by the two
/// drivers that use QR; `rank` is not set by Qr.
template <class T>
TORCH_PY_API int least_squares(LeastSquares driver, int64_t m, int64_t n, int64_t columns, T* a,
                               int64_t lda, T* b, int64_t ldb, Real<T> rcond, Real<T>* values,
                               int32_t* rank);

/// op(A) X = B (left) or X op(A) = B for triangular A, in the place of the m x n matrix B.
template <class T>
TORCH_PY_API void trsm(bool left, bool upper, Transpose transpose, bool unit_diagonal, int64_t m,
                       int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);

}  // namespace at::lapack
