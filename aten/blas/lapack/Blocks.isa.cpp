// The blocks of our own factorizations: short loops over columns. Compiled with -O3.
#include "aten/blas/lapack/Blocks.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::lapack::own {
namespace CPU_CAPABILITY {

namespace {

/// LAPACK's measure of a pivot.
template <class T>
auto magnitude(T value) {
  if constexpr (c10::is_complex_v<T>) return std::abs(value.real()) + std::abs(value.imag());
  else return std::abs(value);
}

template <class T>
auto real_part(T value) {
  if constexpr (c10::is_complex_v<T>) return value.real();
  else return value;
}

template <class T>
T conjugate(T value) {
  if constexpr (c10::is_complex_v<T>) return c10::conj(value);
  else return value;
}

template <class T>
T product(T a, T b) {
  if constexpr (c10::is_complex_v<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else return a * b;
}

/// y -= factor * x
template <class T>
inline void subtract(int64_t count, T factor, const T* x, T* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = y[i] - product(factor, x[i]);
}

/// One column after the other.
template <class T>
void solve_columns(bool lower, bool unit_diagonal, int64_t m, int64_t n, const T* block, T* b,
                   int64_t ldb) {
  for (int64_t j = 0; j < n; ++j, b += ldb) {
    for (int64_t step = 0; step < m; ++step) {
      const int64_t k = lower ? step : m - 1 - step;
      const T* const column = block + k * kBlock;
      if (!unit_diagonal) b[k] = b[k] / column[k];
      if (lower) subtract(m - k - 1, b[k], column + k + 1, b + k + 1);
      else subtract(k, b[k], column, b);
    }
  }
}

/// kBlock columns at once, whose rows are contiguous.
template <class T>
void solve_together(bool lower, bool unit_diagonal, int64_t m, const T* block, T* rows) {
  for (int64_t step = 0; step < m; ++step) {
    const int64_t k = lower ? step : m - 1 - step;
    const T* const column = block + k * kBlock;
    T* const row = rows + k * kBlock;

    if (!unit_diagonal) {
      for (int64_t j = 0; j < kBlock; ++j) row[j] = row[j] / column[k];
    }
    const int64_t first = lower ? k + 1 : 0;
    const int64_t last = lower ? m : k;
    for (int64_t i = first; i < last; ++i) subtract(kBlock, column[i], row, rows + i * kBlock);
  }
}

template <class T>
void solve_left(bool lower, bool unit_diagonal, int64_t m, int64_t n, const T* block, T* b,
                int64_t ldb) {
  constexpr int64_t kFew = 4;
  T rows[kBlock * kBlock] = {};

  for (int64_t j = 0; j < n; j += kBlock) {
    const int64_t width = std::min(kBlock, n - j);
    T* const columns = b + j * ldb;
    if (width < kFew) return solve_columns(lower, unit_diagonal, m, width, block, columns, ldb);

    for (int64_t q = 0; q < width; ++q) {
      for (int64_t i = 0; i < m; ++i) rows[i * kBlock + q] = columns[i + q * ldb];
    }
    solve_together(lower, unit_diagonal, m, block, rows);
    for (int64_t q = 0; q < width; ++q) {
      for (int64_t i = 0; i < m; ++i) columns[i + q * ldb] = rows[i * kBlock + q];
    }
  }
}

template <class T>
void solve_right(bool lower, bool unit_diagonal, int64_t m, int64_t n, const T* block, T* b,
                 int64_t ldb) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = lower ? n - 1 - step : step;
    T* const column = b + k * ldb;

    for (int64_t done = 0; done < step; ++done) {
      const int64_t j = lower ? n - 1 - done : done;
      subtract(m, block[k * kBlock + j], b + j * ldb, column);
    }
    if (unit_diagonal) continue;
    const T diagonal = block[k * kBlock + k];
    for (int64_t i = 0; i < m; ++i) column[i] = column[i] / diagonal;
  }
}

template <class T>
int factor_columns(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* const column = a + k * lda;

    int64_t pivot = k;
    for (int64_t i = k + 1; i < m; ++i) {
      if (magnitude(column[i]) > magnitude(column[pivot])) pivot = i;
    }
    pivots[k] = static_cast<int32_t>(pivot + 1);

    if (column[pivot] == T(0)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t j = 0; j < n && pivot != k; ++j) std::swap(a[k + j * lda], a[pivot + j * lda]);

    const T diagonal = column[k];
    for (int64_t i = k + 1; i < m; ++i) column[i] = column[i] / diagonal;
    for (int64_t j = k + 1; j < n; ++j)
      subtract(m - k - 1, a[k + j * lda], column + k + 1, a + k + 1 + j * lda);
  }
  return info;
}

template <class T>
int factor_positive(int64_t n, T* block) {
  for (int64_t k = 0; k < n; ++k) {
    T* const column = block + k * kBlock;
    const auto pivot = real_part(column[k]);
    if (!(pivot > 0)) return static_cast<int>(k + 1);

    const auto root = std::sqrt(pivot);
    column[k] = T(root);
    for (int64_t i = k + 1; i < n; ++i) column[i] = column[i] / T(root);
    for (int64_t j = k + 1; j < n; ++j)
      subtract(n - j, conjugate(column[j]), column + j, block + j * kBlock + j);
  }
  return 0;
}

template <class T>
constexpr Blocks<T> kBlocks = {solve_left<T>, solve_right<T>, factor_columns<T>,
                               factor_positive<T>};

}  // namespace

extern const Table kTable;
const Table kTable = {kBlocks<float>, kBlocks<double>, kBlocks<c10::complex<float>>,
                      kBlocks<c10::complex<double>>};

}  // namespace CPU_CAPABILITY
}  // namespace at::lapack::own
