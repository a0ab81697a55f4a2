#pragma once
// Running results along contiguous rows, of several rows at once: squares of elements are
// transposed in registers, so that a vector holds one element of each row. Every row is scanned in
// order, as by a loop over its elements.
#include <cstdint>
#include <utility>

#include "c10/util/Export.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Rows that are scanned at once. More would be faster for some lengths, but where rows are a power
// of two apart, all of them fall into the same few lines of the first-level cache.
constexpr int64_t kScanRows = 4;

// Elements of a vector, of which the running results, of 8 bytes, fill a register.
#if defined(__AVX2__)
constexpr int kScanWidth = 4;
#else
constexpr int kScanWidth = 2;
#endif

template <typename T>
struct ScanVectorOf {
  typedef T type __attribute__((vector_size(kScanWidth * sizeof(T))));
  typedef T memory
      __attribute__((vector_size(kScanWidth * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <typename T>
using ScanVector = typename ScanVectorOf<T>::type;
/// The same anywhere in memory. GCC would copy the halves of a vector with memcpy.
template <typename T>
using ScanMemory = typename ScanVectorOf<T>::memory;

/// Exchanges the odd blocks of `a` with the even blocks of `b`, in blocks of kBlock elements.
template <size_t kBlock, typename V, size_t... I>
inline void exchange_blocks(V& a, V& b, std::index_sequence<I...>) {
  constexpr size_t kCount = sizeof...(I);
  const V even = __builtin_shufflevector(a, b, ((I & kBlock) ? kCount + I - kBlock : I)...);
  const V odd = __builtin_shufflevector(a, b, ((I & kBlock) ? kCount + I : I + kBlock)...);
  a = even;
  b = odd;
}

/// Transposes a square of kScanWidth vectors.
template <typename V>
C10_ALWAYS_INLINE void transpose_square(V (&rows)[kScanWidth]) {
  constexpr auto kIndices = std::make_index_sequence<kScanWidth>();
  exchange_blocks<1>(rows[0], rows[1], kIndices);
  if constexpr (kScanWidth == 4) {
    exchange_blocks<1>(rows[2], rows[3], kIndices);
    exchange_blocks<2>(rows[0], rows[2], kIndices);
    exchange_blocks<2>(rows[1], rows[3], kIndices);
  }
}

/// The elements in the type of the running results.
template <typename Acc, typename T>
inline ScanVector<Acc> widen_for_scan(ScanVector<T> values) {
#if defined(__AVX2__)
  // GCC converts the halves of a vector one after the other.
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Acc, double>)
    return _mm256_cvtps_pd(values);
#endif
  return __builtin_convertvector(values, ScanVector<Acc>);
}

/// Replaces a square of elements, whose rows are `step` elements apart, by running results.
template <typename T, typename Acc, typename Op>
C10_ALWAYS_INLINE void scan_square(T* out, int64_t out_step, const T* in, int64_t in_step,
                                   ScanVector<Acc>& running, const Op& op) {
  // Loops that are unrolled late would leave the square in memory.
  ScanVector<T> square[kScanWidth];
#pragma GCC unroll 4
  for (int k = 0; k < kScanWidth; ++k)
    square[k] = *reinterpret_cast<const ScanMemory<T>*>(in + k * in_step);

  transpose_square(square);
#pragma GCC unroll 4
  for (int k = 0; k < kScanWidth; ++k) {
    running = op(running, widen_for_scan<Acc, T>(square[k]));
    square[k] = __builtin_convertvector(running, ScanVector<T>);
  }
  transpose_square(square);

#pragma GCC unroll 4
  for (int k = 0; k < kScanWidth; ++k)
    *reinterpret_cast<ScanMemory<T>*>(out + k * out_step) = square[k];
}

/// Scans kScanRows rows of n contiguous elements, which are `step` elements apart.
template <typename T, typename Acc, typename Op>
void scan_rows(T* out, int64_t out_step, const T* in, int64_t in_step, int64_t n, Acc start,
               const Op& op) {
  constexpr int kSquares = kScanRows / kScanWidth;
  ScanVector<Acc> running[kSquares];
  for (auto& vector : running) vector = start - ScanVector<Acc>{};

  int64_t i = 0;
  for (; i + kScanWidth <= n; i += kScanWidth) {
#pragma GCC unroll 2
    for (int64_t s = 0; s < kSquares; ++s) {
      const int64_t row = s * kScanWidth;
      scan_square<T, Acc>(out + row * out_step + i, out_step, in + row * in_step + i, in_step,
                          running[s], op);
    }
  }

  for (int64_t row = 0; row < kScanRows; ++row) {
    Acc last = running[row / kScanWidth][row % kScanWidth];
    for (int64_t j = i; j < n; ++j) {
      last = op(last, static_cast<Acc>(in[row * in_step + j]));
      out[row * out_step + j] = static_cast<T>(last);
    }
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
