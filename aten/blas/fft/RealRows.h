// The transform of a real row from that of half as many complex elements, and back.
#pragma once

#include "aten/blas/fft/Memory.h"

namespace at::blas::fft {
namespace CPU_CAPABILITY {

namespace {

// Note [Real transforms of even length]
// Neighbours of a real row are real and imaginary part of h = n / 2 complex elements, whose
// transform is Z = E + i O, with E and O the transforms of the even and odd elements. They follow
// from Z[k] and Z[h - k], and X[k] = E[k] + exp(-2 pi i k / n) O[k].

template <class T, int... I>
inline Vector<T> reversed(Vector<T> a, std::integer_sequence<int, I...>) {
  constexpr int W = kWidth<T>;
#if defined(__clang__)
  return __builtin_shufflevector(a, a, (W - 1 - I)...);
#else
  return __builtin_shuffle(a, Vector<vectors::ShuffleIndex<T>>{(W - 1 - I)...});
#endif
}

template <class T>
inline Lanes<Vector<T>> reversed(Lanes<Vector<T>> a) {
  constexpr auto lanes = std::make_integer_sequence<int, kWidth<T>>{};
  return {reversed<T>(a.real, lanes), reversed<T>(a.imag, lanes)};
}

template <class V>
inline Lanes<V> conjugate(Lanes<V> a) {
  return {a.real, -a.imag};
}

/// X[k] and X[h - k] from Z[k] and Z[h - k].
struct Separate {
  template <class T, class V>
  static void apply(Lanes<V>& near, Lanes<V>& far, Lanes<V> root) {
    const Lanes<V> a = near * T(0.5);
    const Lanes<V> b = conjugate(far * T(0.5));
    const Lanes<V> even = a + b;
    const Lanes<V> odd = quarter_turn(turned(a - b, root.real, root.imag));
    near = even + odd;
    far = conjugate(even - odd);
  }
};

/// Z[k] and Z[h - k] from X[k] and X[h - k].
struct Join {
  template <class T, class V>
  static void apply(Lanes<V>& near, Lanes<V>& far, Lanes<V> root) {
    const Lanes<V> a = near;
    const Lanes<V> b = conjugate(far);
    const Lanes<V> even = a + b;
    const Lanes<V> odd = quarter_turn(turned(a - b, root.real, -root.imag));
    near = even - odd;
    far = conjugate(even + odd);
  }
};

/// Applies Step to elements k and h - k of a row, for 0 < k <= h / 2.
template <class Step, class T>
void for_pairs(int64_t half, const T* roots, T* row) {
  constexpr int64_t W = kWidth<T>;
  int64_t k = 1;
  for (; 2 * (k + W - 1) < half; k += W) {
    T* const low = row + 2 * k;
    T* const high = row + 2 * (half - k - W + 1);
    Lanes<Vector<T>> near = load_columns(low, W);
    Lanes<Vector<T>> far = reversed<T>(load_columns(high, W));
    Step::template apply<T>(near, far, load_columns(roots + 2 * k, W));
    store_columns(low, W, near);
    store_columns(high, W, reversed<T>(far));
  }

  for (; k <= half - k; ++k) {
    Lanes<T> near = load_lanes<T>(row + 2 * k);
    Lanes<T> far = load_lanes<T>(row + 2 * (half - k));
    Step::template apply<T>(near, far, load_lanes<T>(roots + 2 * k));
    store_lanes(row + 2 * k, near);
    store_lanes(row + 2 * (half - k), far);
  }
}

template <class T>
void separate(int64_t half, const c10::complex<T>* roots, c10::complex<T>* row) {
  const c10::complex<T> first = row[0];
  row[0] = {first.real() + first.imag(), T(0)};
  row[half] = {first.real() - first.imag(), T(0)};
  for_pairs<Separate>(half, reinterpret_cast<const T*>(roots), reinterpret_cast<T*>(row));
}

template <class T>
void join(int64_t half, const c10::complex<T>* roots, c10::complex<T>* row) {
  const T first = row[0].real();
  const T last = row[half].real();
  row[0] = {first + last, first - last};
  for_pairs<Join>(half, reinterpret_cast<const T*>(roots), reinterpret_cast<T*>(row));
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::fft
