// Factorizations that halve the matrix: products between the halves, blocks at the end.
#include "aten/blas/lapack/Factorizations.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "aten/blas/Runtime.h"
#include "aten/blas/lapack/Blocks.h"

namespace at::lapack::own {

// The tables of Blocks.isa.cpp; null where the build does not have the instruction set.
namespace DEFAULT {
extern const Table kTable;
}  // namespace DEFAULT
namespace AVX2 {
[[gnu::weak]] extern const Table kTable;
}  // namespace AVX2
namespace AVX512 {
[[gnu::weak]] extern const Table kTable;
}  // namespace AVX512

namespace {

using blas::Buffer;

const Table& table() {
  const int capability = blas::runtime().capability;
  if (capability >= 2 && &AVX512::kTable != nullptr) return AVX512::kTable;
  if (capability >= 1 && &AVX2::kTable != nullptr) return AVX2::kTable;
  return DEFAULT::kTable;
}

template <class T>
const Blocks<T>& blocks() {
  if constexpr (std::is_same_v<T, float>) return table().f32;
  else if constexpr (std::is_same_v<T, double>) return table().f64;
  else if constexpr (std::is_same_v<T, c10::complex<float>>) return table().c64;
  else return table().c128;
}

/// Half of n, in whole blocks.
int64_t half_of(int64_t n) { return (n / 2 + kBlock - 1) / kBlock * kBlock; }

/// C -= op(A) op(B)
template <class T>
void subtract_product(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, const T* a,
                      int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  blas::gemm<T>(ta, tb, m, n, k, T(-1), a, lda, b, ldb, T(1), c, ldc);
}

// Triangular systems

/// A triangle of A, and what is done to it: `lower` is that of op(A).
template <class T>
struct Triangle {
  bool lower;
  Transpose transpose;
  bool unit_diagonal;
  const T* a;
  int64_t lda;

  bool is_transposed() const { return transpose != Transpose::None; }

  /// From row and column `first` on.
  Triangle from(int64_t first) const {
    Triangle rest = *this;
    rest.a += first * (lda + 1);
    return rest;
  }

  /// The block of A that op() makes the one at these rows and columns.
  const T* block_at(int64_t row, int64_t column) const {
    return is_transposed() ? a + column + row * lda : a + row + column * lda;
  }

  /// op(A), copied.
  void copy(int64_t n, T* block) const {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        T value = *block_at(i, j);
        if constexpr (c10::is_complex_v<T>) {
          if (transpose == Transpose::Conjugate) value = c10::conj(value);
        }
        block[i + j * kBlock] = value;
      }
    }
  }
};

template <class T>
void solve_left(const Triangle<T>& triangle, int64_t m, int64_t n, T* b, int64_t ldb) {
  if (m <= kBlock) {
    T block[kBlock * kBlock];
    triangle.copy(m, block);
    return blocks<T>().solve_left(triangle.lower, triangle.unit_diagonal, m, n, block, b, ldb);
  }

  const int64_t half = half_of(m);
  const int64_t rest = m - half;
  T* const below = b + half;
  if (triangle.lower) {
    solve_left(triangle, half, n, b, ldb);
    subtract_product(triangle.transpose, Transpose::None, rest, n, half, triangle.block_at(half, 0),
                     triangle.lda, b, ldb, below, ldb);
    solve_left(triangle.from(half), rest, n, below, ldb);
  } else {
    solve_left(triangle.from(half), rest, n, below, ldb);
    subtract_product(triangle.transpose, Transpose::None, half, n, rest, triangle.block_at(0, half),
                     triangle.lda, below, ldb, b, ldb);
    solve_left(triangle, half, n, b, ldb);
  }
}

template <class T>
void solve_right(const Triangle<T>& triangle, int64_t m, int64_t n, T* b, int64_t ldb) {
  if (n <= kBlock) {
    T block[kBlock * kBlock];
    triangle.copy(n, block);
    return blocks<T>().solve_right(triangle.lower, triangle.unit_diagonal, m, n, block, b, ldb);
  }

  const int64_t half = half_of(n);
  const int64_t rest = n - half;
  T* const right = b + half * ldb;
  if (triangle.lower) {
    solve_right(triangle.from(half), m, rest, right, ldb);
    subtract_product(Transpose::None, triangle.transpose, m, half, rest, right, ldb,
                     triangle.block_at(half, 0), triangle.lda, b, ldb);
    solve_right(triangle, m, half, b, ldb);
  } else {
    solve_right(triangle, m, half, b, ldb);
    subtract_product(Transpose::None, triangle.transpose, m, rest, half, b, ldb,
                     triangle.block_at(0, half), triangle.lda, right, ldb);
    solve_right(triangle.from(half), m, rest, right, ldb);
  }
}

// Gauss

/// Exchanges the rows of some columns, as pivots say, or back.
template <class T>
void exchange_rows(bool back, int64_t columns, T* a, int64_t lda, const int32_t* pivots,
                   int64_t count) {
  for (int64_t j = 0; j < columns; ++j, a += lda) {
    for (int64_t step = 0; step < count; ++step) {
      const int64_t i = back ? count - 1 - step : step;
      std::swap(a[i], a[pivots[i] - 1]);
    }
  }
}

// Cholesky

/// C -= A A^H in the lower triangle of C, or A^H A in the upper one.
template <class T>
void subtract_square(bool upper, int64_t n, int64_t k, const T* a, int64_t lda, T* c, int64_t ldc) {
  const Transpose left = upper ? Transpose::Conjugate : Transpose::None;
  const Transpose right = upper ? Transpose::None : Transpose::Conjugate;
  const auto part = [&](int64_t i) { return upper ? a + i * lda : a + i; };
  constexpr int64_t kColumns = 4 * kBlock;
  Buffer<T> diagonal(kColumns * kColumns);

  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t width = std::min(kColumns, n - j);
    const int64_t after = n - j - width;

    // The block on the diagonal goes through a copy: its other half must stay.
    blas::gemm<T>(left, right, width, width, k, T(1), part(j), lda, part(j), lda, T(0),
                  diagonal.data(), width);
    for (int64_t q = 0; q < width; ++q) {
      const int64_t first = upper ? 0 : q;
      const int64_t last = upper ? q + 1 : width;
      T* const column = c + j + (j + q) * ldc;
      for (int64_t p = first; p < last; ++p) column[p] = column[p] - diagonal[p + q * width];
    }

    if (after == 0) continue;
    if (upper) {
      subtract_product(left, right, width, after, k, part(j), lda, part(j + width), lda,
                       c + j + (j + width) * ldc, ldc);
    } else {
      subtract_product(left, right, after, width, k, part(j + width), lda, part(j), lda,
                       c + j + width + j * ldc, ldc);
    }
  }
}

/// A block whose lower triangle is that of L. That of A = U^H U is the transposed U.
template <class T>
int factor_positive_block(bool upper, int64_t n, T* a, int64_t lda) {
  T block[kBlock * kBlock];
  const auto place = [&](int64_t i, int64_t j) { return upper ? j + i * lda : i + j * lda; };
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) block[i + j * kBlock] = a[place(i, j)];
  }

  const int info = blocks<T>().factor_positive(n, block);

  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) a[place(i, j)] = block[i + j * kBlock];
  }
  return info;
}

}  // namespace

template <class T>
void trsm(bool left, bool upper, Transpose transpose, bool unit_diagonal, int64_t m, int64_t n,
          const T* a, int64_t lda, T* b, int64_t ldb) {
  const bool lower = upper == (transpose != Transpose::None);
  const Triangle<T> triangle = {lower, transpose, unit_diagonal, a, lda};
  if (left) solve_left(triangle, m, n, b, ldb);
  else solve_right(triangle, m, n, b, ldb);
}

template <class T>
int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  if (n <= kBlock) return blocks<T>().factor_columns(m, n, a, lda, pivots);

  const int64_t least = std::min(m, n);
  const int64_t half = least <= kBlock ? least : half_of(least);
  T* const right = a + half * lda;
  int info = getrf(m, half, a, lda, pivots);

  exchange_rows(false, n - half, right, lda, pivots, half);
  trsm(true, false, Transpose::None, true, half, n - half, a, lda, right, lda);
  if (m == half) return info;

  subtract_product(Transpose::None, Transpose::None, m - half, n - half, half, a + half, lda, right,
                   lda, right + half, lda);
  const int later = getrf(m - half, n - half, right + half, lda, pivots + half);
  if (info == 0 && later != 0) info = static_cast<int>(later + half);

  exchange_rows(false, half, a + half, lda, pivots + half, least - half);
  for (int64_t i = half; i < least; ++i) pivots[i] += static_cast<int32_t>(half);
  return info;
}

template <class T>
void getrs(Transpose transpose, int64_t n, int64_t columns, const T* factors, int64_t lda,
           const int32_t* pivots, T* b, int64_t ldb) {
  const bool forward = transpose == Transpose::None;
  if (forward) exchange_rows(false, columns, b, ldb, pivots, n);
  trsm(true, !forward, transpose, forward, n, columns, factors, lda, b, ldb);
  trsm(true, forward, transpose, !forward, n, columns, factors, lda, b, ldb);
  if (!forward) exchange_rows(true, columns, b, ldb, pivots, n);
}

template <class T>
int potrf(bool upper, int64_t n, T* a, int64_t lda) {
  if (n <= kBlock) return factor_positive_block(upper, n, a, lda);

  const int64_t half = half_of(n);
  const int64_t rest = n - half;
  int info = potrf(upper, half, a, lda);
  if (info != 0) return info;

  T* const neighbour = upper ? a + half * lda : a + half;
  T* const last = a + half * (lda + 1);
  if (upper) trsm(true, true, Transpose::Conjugate, false, half, rest, a, lda, neighbour, lda);
  else trsm(false, false, Transpose::Conjugate, false, rest, half, a, lda, neighbour, lda);
  subtract_square(upper, rest, half, neighbour, lda, last, lda);

  info = potrf(upper, rest, last, lda);
  return info == 0 ? 0 : static_cast<int>(info + half);
}

template <class T>
void potrs(bool upper, int64_t n, int64_t columns, const T* factor, int64_t lda, T* b,
           int64_t ldb) {
  const Transpose first = upper ? Transpose::Conjugate : Transpose::None;
  const Transpose second = upper ? Transpose::None : Transpose::Conjugate;
  trsm(true, upper, first, false, n, columns, factor, lda, b, ldb);
  trsm(true, upper, second, false, n, columns, factor, lda, b, ldb);
}

template <class T>
int potri(bool upper, int64_t n, T* factor, int64_t lda) {
  for (int64_t i = 0; i < n; ++i) {
    if (factor[i * (lda + 1)] == T(0)) return static_cast<int>(i + 1);
  }

  Buffer<T> inverse(n * n);
  std::fill(inverse.data(), inverse.data() + n * n, T(0));
  for (int64_t i = 0; i < n; ++i) inverse[i * (n + 1)] = T(1);
  potrs(upper, n, n, factor, lda, inverse.data(), n);

  for (int64_t j = 0; j < n; ++j) {
    const int64_t first = upper ? 0 : j;
    const int64_t last = upper ? j + 1 : n;
    std::copy(inverse.data() + j * n + first, inverse.data() + j * n + last,
              factor + j * lda + first);
  }
  return 0;
}

#define INSTANTIATE(T)                                                                        \
  template void trsm<T>(bool, bool, Transpose, bool, int64_t, int64_t, const T*, int64_t, T*, \
                        int64_t);                                                             \
  template int getrf<T>(int64_t, int64_t, T*, int64_t, int32_t*);                             \
  template void getrs<T>(Transpose, int64_t, int64_t, const T*, int64_t, const int32_t*, T*,  \
                         int64_t);                                                            \
  template int potrf<T>(bool, int64_t, T*, int64_t);                                          \
  template void potrs<T>(bool, int64_t, int64_t, const T*, int64_t, T*, int64_t);             \
  template int potri<T>(bool, int64_t, T*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::complex<float>)
INSTANTIATE(c10::complex<double>)
#undef INSTANTIATE

}  // namespace at::lapack::own
