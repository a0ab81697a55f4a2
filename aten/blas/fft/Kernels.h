// The table of our own Fourier transforms for one core, one per instruction set.
#pragma once

#include <cstdint>

#include "c10/util/complex.h"

namespace at::blas::fft {

// Note [Transforms in lanes]
// Passes are Stockham's: with radix r, a pass reads r elements n / r apart, combines them, and
// writes them where the next pass finds them, so that the result is in order without a permutation.
// Every pass works on vectors whose lanes belong to different transforms: nothing is shuffled in
// between. Work space holds, for each element, a vector of real parts and one of imaginary parts.
//
// The lanes are rows if there are several. A long row of n = a * b elements is a matrix of a rows
// and b columns instead: its columns are transformed, multiplied by roots of unity and transposed;
// transforms of the new columns then give the result.

/// One pass. `roots` has exp(-2 pi i q j / length) for each q < parts and 0 < j < radix, as real
/// and imaginary part. `turns` has exp(-2 pi i j / radix) for j < radix.
template <class T>
struct Pass {
  int64_t radix;
  int64_t parts;   // of which each combines `radix` elements
  int64_t stride;  // the product of the radices of earlier passes
  const T* roots;
  const T* turns;
};

template <class T>
struct Sequence {
  int64_t length;
  const Pass<T>* passes;
  int64_t count;
};

/// Backward transforms are forward ones with real and imaginary parts exchanged before and after.
template <class T>
struct Ends {
  bool exchange_first;
  bool exchange_last;
  T scale;
};

/// Roots of unity for the element of row k and column q of a matrix: the product of
/// blocks[q / lanes][k] and lanes[k][q % lanes].
template <class T>
struct Twiddles {
  const T* blocks;
  const T* lanes;
};

template <class T>
struct Kernels {
  using Complex = c10::complex<T>;

  /// The number of lanes.
  int64_t lanes;

  /// Transforms one row, in `work` for 4 * length numbers.
  void (*row)(const Sequence<T>& sequence, const Complex* in, Complex* out, const Ends<T>& ends,
              T* work);

  /// Transforms at most `lanes` rows, in `work` for 4 * lanes * length numbers, as below.
  void (*rows)(const Sequence<T>& sequence, const Complex* in, int64_t in_step, Complex* out,
               int64_t out_step, int64_t count, const Ends<T>& ends, T* work);

  /// Transforms the columns of a contiguous matrix. With `twiddles`, the results are multiplied by
  /// them, and the matrix is written transposed.
  void (*columns)(const Sequence<T>& sequence, const Complex* in, Complex* out, int64_t columns,
                  const Twiddles<T>* twiddles, const Ends<T>& ends, T* work);

  /// out = a * b, or its conjugate.
  void (*multiply)(int64_t n, const Complex* a, const Complex* b, Complex* out, bool conjugate);

  /// Makes the transform of a real row of n = 2 * half elements, in place, from that of `half`
  /// complex ones, and the other way round. `roots` has exp(-2 pi i k / n) for k <= n / 4.
  void (*separate)(int64_t half, const Complex* roots, Complex* row);
  void (*join)(int64_t half, const Complex* roots, Complex* row);
};

struct Table {
  Kernels<float> f32;
  Kernels<double> f64;
};

}  // namespace at::blas::fft
