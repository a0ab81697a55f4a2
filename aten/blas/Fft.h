// Discrete Fourier transforms of contiguous rows, by MKL or our own.
#pragma once

#include <cstdint>

#include "c10/util/Export.h"
#include "c10/util/complex.h"

// T is float or double, n >= 1, and nothing is checked. Each function runs on the calling thread;
// callers distribute rows over threads. Results are multiplied by `scale`.

namespace at::blas {

/// In place, for each of `rows` rows: X[k] = sum of x[j] exp(-2 pi i j k / n), or exp(+2 pi i j k /
/// n) if not `forward`.
template <class T>
TORCH_PY_API void fft_c2c(int64_t n, int64_t rows, c10::complex<T>* data, bool forward, T scale);

/// Forward transforms of real rows. Of each, only the first n / 2 + 1 elements are written; the
/// others are their conjugates.
template <class T>
TORCH_PY_API void fft_r2c(int64_t n, int64_t rows, const T* in, c10::complex<T>* out, T scale);

/// Backward transforms to real rows, from the first n / 2 + 1 elements of each (`in`, which may be
/// overwritten). Imaginary parts that would have to be zero are ignored.
template <class T>
TORCH_PY_API void fft_c2r(int64_t n, int64_t rows, c10::complex<T>* in, T* out, T scale);

}  // namespace at::blas
