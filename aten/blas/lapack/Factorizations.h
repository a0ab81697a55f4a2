// Our own factorizations by Gauss and Cholesky, and triangular systems.
#pragma once

#include <cstdint>

#include "aten/blas/Blas.h"

// As in Lapack.h, for builds without a BLAS library. Matrices are halved until blocks are left, so
// that nearly all of the work is done by matrix products.

namespace at::lapack::own {

using blas::Transpose;

template <class T>
void trsm(bool left, bool upper, Transpose transpose, bool unit_diagonal, int64_t m, int64_t n,
          const T* a, int64_t lda, T* b, int64_t ldb);

template <class T>
int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots);
template <class T>
void getrs(Transpose transpose, int64_t n, int64_t columns, const T* factors, int64_t lda,
           const int32_t* pivots, T* b, int64_t ldb);

template <class T>
int potrf(bool upper, int64_t n, T* a, int64_t lda);
template <class T>
void potrs(bool upper, int64_t n, int64_t columns, const T* factor, int64_t lda, T* b, int64_t ldb);
template <class T>
int potri(bool upper, int64_t n, T* factor, int64_t lda);

}  // namespace at::lapack::own
