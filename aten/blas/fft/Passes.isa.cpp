// Our own Fourier transforms for one core. See Note [Transforms in lanes]. Compiled with -O3.
#include <algorithm>
#include <utility>

#include "aten/blas/fft/Butterflies.h"
#include "aten/blas/fft/Kernels.h"
#include "aten/blas/fft/Memory.h"
#include "aten/blas/fft/RealRows.h"

namespace at::blas::fft {
namespace CPU_CAPABILITY {

namespace {

// The largest radix of a pass.
constexpr int64_t kLargestRadix = 64;

// Passes

/// Combines the elements of one part. `step` is the distance of the elements of the input.
template <int kRadix, class V, bool kTurned, class T>
inline void run_part(const T* in, int64_t step, T* out, int64_t stride, const T* roots) {
  constexpr int64_t kSize = 2 * sizeof(V) / sizeof(T);
  for (int64_t k = 0; k < stride; ++k) {
    Lanes<V> x[kRadix];
#pragma GCC unroll 8
    for (int j = 0; j < kRadix; ++j) x[j] = load_lanes<V>(in + (j * step + k) * kSize);

    transform_points<kRadix, T>(x);

    store_lanes(out + k * kSize, x[0]);
#pragma GCC unroll 8
    for (int j = 1; j < kRadix; ++j) {
      if constexpr (kTurned) x[j] = turned(x[j], roots[2 * j - 2], roots[2 * j - 1]);
      store_lanes(out + (j * stride + k) * kSize, x[j]);
    }
  }
}

template <int kRadix, class V, class T>
void run_pass(const Pass<T>& pass, const T* in, T* out) {
  constexpr int64_t kSize = 2 * sizeof(V) / sizeof(T);
  const int64_t step = pass.parts * pass.stride;
  run_part<kRadix, V, false>(in, step, out, pass.stride, pass.roots);

  for (int64_t q = 1; q < pass.parts; ++q) {
    run_part<kRadix, V, true>(in + q * pass.stride * kSize, step,
                              out + q * kRadix * pass.stride * kSize, pass.stride,
                              pass.roots + q * 2 * (kRadix - 1));
  }
}

template <class V, class T>
void run_odd_pass(const Pass<T>& pass, const T* in, T* out) {
  constexpr int64_t kSize = 2 * sizeof(V) / sizeof(T);
  const int64_t radix = pass.radix;
  const int64_t step = pass.parts * pass.stride;
  Lanes<V> x[kLargestRadix];
  Lanes<V> y[kLargestRadix];

  for (int64_t q = 0; q < pass.parts; ++q) {
    const T* roots = pass.roots + q * 2 * (radix - 1);
    for (int64_t k = 0; k < pass.stride; ++k) {
      const int64_t from = q * pass.stride + k;
      for (int64_t j = 0; j < radix; ++j) x[j] = load_lanes<V>(in + (j * step + from) * kSize);

      transform_odd<T>(radix, pass.turns, x, y);

      T* const to = out + (q * radix * pass.stride + k) * kSize;
      store_lanes(to, y[0]);
      for (int64_t j = 1; j < radix; ++j)
        store_lanes(to + j * pass.stride * kSize, turned(y[j], roots[2 * j - 2], roots[2 * j - 1]));
    }
  }
}

/// Runs all passes from `data` to `other` and back; returns where the result is.
template <class V, class T>
T* run_passes(const Sequence<T>& sequence, T* data, T* other) {
  for (int64_t i = 0; i < sequence.count; ++i) {
    const Pass<T>& pass = sequence.passes[i];
    switch (pass.radix) {
      case 2: run_pass<2, V>(pass, data, other); break;
      case 3: run_pass<3, V>(pass, data, other); break;
      case 4: run_pass<4, V>(pass, data, other); break;
      case 5: run_pass<5, V>(pass, data, other); break;
      case 8: run_pass<8, V>(pass, data, other); break;
      default: run_odd_pass<V>(pass, data, other);
    }
    std::swap(data, other);
  }
  return data;
}

/// Multiplies the elements of one block of columns by their roots.
template <class T>
void multiply_by_roots(T* data, int64_t length, const T* block, const T* lanes) {
  constexpr int64_t kSize = 2 * kWidth<T>;
  for (int64_t k = 1; k < length; ++k) {
    const auto root =
        turned(load_lanes<Vector<T>>(lanes + k * kSize), block[2 * k], block[2 * k + 1]);
    const auto value = load_lanes<Vector<T>>(data + k * kSize);
    store_lanes(data + k * kSize, turned(value, root.real, root.imag));
  }
}

// The functions of the table

template <class T>
void row(const Sequence<T>& sequence, const c10::complex<T>* in, c10::complex<T>* out,
         const Ends<T>& ends, T* work) {
  const int64_t n = sequence.length;
  const auto* from = reinterpret_cast<const T*>(in);
  for (int64_t i = 0; i < n; ++i)
    store_lanes(work + 2 * i, exchanged(load_lanes<T>(from + 2 * i), ends.exchange_first));

  const T* result = run_passes<T>(sequence, work, work + 2 * n);

  auto* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const Lanes<T> value = exchanged(load_lanes<T>(result + 2 * i), ends.exchange_last);
    store_lanes(to + 2 * i, value * ends.scale);
  }
}

template <class T>
void rows(const Sequence<T>& sequence, const c10::complex<T>* in, int64_t in_step,
          c10::complex<T>* out, int64_t out_step, int64_t count, const Ends<T>& ends, T* work) {
  const int64_t numbers = 2 * sequence.length;
  load_rows(reinterpret_cast<const T*>(in), 2 * in_step, numbers, count, ends.exchange_first, work);
  const T* result = run_passes<Vector<T>>(sequence, work, work + numbers * kWidth<T>);
  store_rows(result, numbers, count, ends.exchange_last, ends.scale, reinterpret_cast<T*>(out),
             2 * out_step);
}

template <class T>
void columns(const Sequence<T>& sequence, const c10::complex<T>* in, c10::complex<T>* out,
             int64_t columns, const Twiddles<T>* twiddles, const Ends<T>& ends, T* work) {
  constexpr int64_t W = kWidth<T>;
  const int64_t n = sequence.length;
  const auto* from = reinterpret_cast<const T*>(in);
  auto* to = reinterpret_cast<T*>(out);

  for (int64_t q = 0; q < columns; q += W) {
    for (int64_t i = 0; i < n; ++i) {
      const auto value = load_columns(from + 2 * (i * columns + q), columns - q);
      store_lanes(work + i * 2 * W, exchanged(value, ends.exchange_first));
    }

    T* const result = run_passes<Vector<T>>(sequence, work, work + n * 2 * W);

    if (twiddles) {
      multiply_by_roots(result, n, twiddles->blocks + q / W * 2 * n, twiddles->lanes);
      store_rows(result, 2 * n, std::min(W, columns - q), ends.exchange_last, ends.scale,
                 to + 2 * q * n, 2 * n);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      const auto value = exchanged(load_lanes<Vector<T>>(result + i * 2 * W), ends.exchange_last);
      store_columns(to + 2 * (i * columns + q), columns - q, value * ends.scale);
    }
  }
}

template <class T>
void multiply(int64_t n, const c10::complex<T>* a, const c10::complex<T>* b, c10::complex<T>* out,
              bool conjugate) {
  const auto* left = reinterpret_cast<const T*>(a);
  const auto* right = reinterpret_cast<const T*>(b);
  auto* to = reinterpret_cast<T*>(out);

  for (int64_t i = 0; i < n; i += kWidth<T>) {
    const auto x = load_columns(left + 2 * i, n - i);
    const auto y = load_columns(right + 2 * i, n - i);
    auto product = turned(x, y.real, y.imag);
    if (conjugate) product.imag = -product.imag;
    store_columns(to + 2 * i, n - i, product);
  }
}

template <class T>
constexpr Kernels<T> kKernels = {kWidth<T>,   row<T>,      rows<T>, columns<T>,
                                 multiply<T>, separate<T>, join<T>};

}  // namespace

extern const Table kTable;
const Table kTable = {kKernels<float>, kKernels<double>};

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::fft
