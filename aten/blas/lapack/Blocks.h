// The blocks that our own factorizations end in, for one core; one table per instruction set.
#pragma once

#include <cstdint>

#include "c10/util/complex.h"

namespace at::lapack::own {

/// Rows and columns of a block, and what the leading dimension of a copied one is.
constexpr int64_t kBlock = 16;

/// Everything is column-major. `block` is a copied triangle with at most kBlock rows.
template <class T>
struct Blocks {
  /// block * X = B in the place of the m x n matrix B, with m <= kBlock.
  void (*solve_left)(bool lower, bool unit_diagonal, int64_t m, int64_t n, const T* block, T* b,
                     int64_t ldb);
  /// X * block = B in the place of the m x n matrix B, with n <= kBlock.
  void (*solve_right)(bool lower, bool unit_diagonal, int64_t m, int64_t n, const T* block, T* b,
                      int64_t ldb);
  /// P L U of an m x n matrix with n <= kBlock, in its place; pivots count from 1. Returns LAPACK's
  /// info.
  int (*factor_columns)(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots);
  /// L L^H of a copied block, in its place. Returns LAPACK's info.
  int (*factor_positive)(int64_t n, T* block);
};

struct Table {
  Blocks<float> f32;
  Blocks<double> f64;
  Blocks<c10::complex<float>> c64;
  Blocks<c10::complex<double>> c128;
};

}  // namespace at::lapack::own
