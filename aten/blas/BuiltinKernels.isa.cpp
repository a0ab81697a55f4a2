// Our own matrix products for one core, compiled once per instruction set.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "aten/blas/Builtin.h"
#include "aten/blas/Runtime.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

// The matrix product follows Goto and van de Geijn (2008): blocks of A (kRows x kDepth) and of B
// (kDepth x kColumns) are copied into panels in the order in which the micro-kernel reads them. The
// micro-kernel keeps a tile of C in registers and adds outer products.

namespace at::blas::builtin {
namespace CPU_CAPABILITY {

namespace {

// A tile of C has kTileVectors vectors of rows and kTileColumns columns.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kTileVectors = 2;
constexpr int kTileColumns = 12;  // the tile takes 24 of 32 registers
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kTileVectors = 2;
constexpr int kTileColumns = 6;  // 12 of 16
#else
constexpr int kVectorBytes = 16;
constexpr int kTileVectors = 2;
constexpr int kTileColumns = 4;  // 8 of 16
#endif

constexpr int64_t kDepth = 256;     // kDepth x kTileColumns of B stay in the first-level cache
constexpr int64_t kRows = 192;      // kRows x kDepth of A in the second
constexpr int64_t kColumns = 1536;  // kDepth x kColumns of B in the third

template <class T>
constexpr int64_t kTileRows = kTileVectors * kVectorBytes / static_cast<int>(sizeof(T));

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// a * b. Small unsigned numbers would be promoted to int, whose overflow is undefined.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t>)
    return static_cast<T>(uint32_t{a} * b);
  else return a * b;
}

/// tile = a panel of A (kTileRows wide) times a panel of B (kTileColumns wide), both `depth` long.
template <class T>
void multiply_panels(int64_t depth, const T* __restrict a, const T* __restrict b,
                     T* __restrict tile) {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  Vector sum[kTileColumns][kTileVectors] = {};

  for (int64_t p = 0; p < depth; ++p) {
    Vector column[kTileVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kTileVectors; ++i) std::memcpy(&column[i], a + i * kLanes, kVectorBytes);
#pragma GCC unroll 16
    for (int j = 0; j < kTileColumns; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < kTileVectors; ++i) sum[j][i] += column[i] * b[j];
    }
    a += kTileVectors * kLanes;
    b += kTileColumns;
  }

  std::memcpy(tile, sum, sizeof(sum));
}

/// Copies `width` lines of `depth` elements into panels of kWidth interleaved lines; missing lines
/// are zero. Element p of line i is source[i * line_stride + p * depth_stride].
template <int64_t kWidth, class In, class T>
void pack(const In* source, int64_t line_stride, int64_t depth_stride, int64_t width, int64_t depth,
          T* panels) {
  for (int64_t first = 0; first < width; first += kWidth, panels += kWidth * depth) {
    const int64_t lines = std::min(kWidth, width - first);
    const In* from = source + first * line_stride;

    // Contiguous lines, without a test per element.
    if (lines == kWidth && line_stride == 1) {
      for (int64_t p = 0; p < depth; ++p) {
        for (int64_t i = 0; i < kWidth; ++i)
          panels[p * kWidth + i] = static_cast<T>(from[p * depth_stride + i]);
      }
      continue;
    }

    for (int64_t i = 0; i < kWidth; ++i) {
      for (int64_t p = 0; p < depth; ++p) {
        panels[p * kWidth + i] =
            i < lines ? static_cast<T>(from[i * line_stride + p * depth_stride]) : T();
      }
    }
  }
}

/// Stores the valid corner of a tile: c = alpha tile + beta c.
template <class T>
void store_tile(const T* tile, int64_t rows, int64_t columns, T alpha, T beta, T* c, int64_t ldc) {
  for (int64_t j = 0; j < columns; ++j, tile += kTileRows<T>, c += ldc) {
    if (beta == T()) {
      for (int64_t i = 0; i < rows; ++i) c[i] = product(alpha, tile[i]);
    } else {
      for (int64_t i = 0; i < rows; ++i)
        c[i] = static_cast<T>(product(alpha, tile[i]) + product(beta, c[i]));
    }
  }
}

/// Multiplies packed blocks, tile by tile.
template <class T>
void multiply_blocks(int64_t m, int64_t n, int64_t depth, const T* a, const T* b, T alpha, T beta,
                     T* c, int64_t ldc) {
  alignas(64) T tile[kTileRows<T> * kTileColumns];
  for (int64_t j = 0; j < n; j += kTileColumns) {
    for (int64_t i = 0; i < m; i += kTileRows<T>) {
      multiply_panels(depth, a + i * depth, b + j * depth, tile);
      store_tile(tile, std::min(kTileRows<T>, m - i), std::min<int64_t>(kTileColumns, n - j), alpha,
                 beta, c + i + j * ldc, ldc);
    }
  }
}

/// c = beta c.
template <class T>
void scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i)
      c[i + j * ldc] = beta == T() ? T() : product(beta, c[i + j * ldc]);
  }
}

/// C = alpha op(A) op(B) + beta C.
template <class In, class T>
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha, const In* a,
          int64_t lda, const In* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (k == 0) return scale(m, n, beta, c, ldc);

  const int64_t row_a = transpose_a ? lda : 1;
  const int64_t depth_a = transpose_a ? 1 : lda;
  const int64_t column_b = transpose_b ? 1 : ldb;
  const int64_t depth_b = transpose_b ? ldb : 1;
  const int64_t block_rows = std::max(kTileRows<T>, kRows / kTileRows<T> * kTileRows<T>);
  Buffer<T> packed_a(round_up(std::min(m, block_rows), kTileRows<T>) * std::min(k, kDepth));
  Buffer<T> packed_b(round_up(std::min(n, kColumns), kTileColumns) * std::min(k, kDepth));

  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t columns = std::min(kColumns, n - j);
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      const T beta_now = p == 0 ? beta : T(1);
      pack<kTileColumns>(b + j * column_b + p * depth_b, column_b, depth_b, columns, depth,
                         packed_b.data());

      // The block of B is packed once for all blocks of A.
      for (int64_t i = 0; i < m; i += block_rows) {
        const int64_t rows = std::min(block_rows, m - i);
        pack<kTileRows<T>>(a + i * row_a + p * depth_a, row_a, depth_a, rows, depth,
                           packed_a.data());
        multiply_blocks(rows, columns, depth, packed_a.data(), packed_b.data(), alpha, beta_now,
                        c + i + j * ldc, ldc);
      }
    }
  }
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

template <class In, class T>
constexpr Kernels<In, T> kernels() {
  return {&gemm<In, T>, &dot<In, T>};
}

}  // namespace

extern const Table kTable;
const Table kTable = {
    kernels<float, float>(),
    kernels<double, double>(),
    kernels<c10::BFloat16, float>(),
    kernels<c10::Half, float>(),
    kernels<uint8_t, uint8_t>(),
    kernels<uint16_t, uint16_t>(),
    kernels<uint32_t, uint32_t>(),
    kernels<uint64_t, uint64_t>(),
    &gemv<float>,
    &gemv<double>,
};

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::builtin
