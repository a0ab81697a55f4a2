// Transforms of a few points, whose elements are numbers or vectors.
#pragma once

#include <cstdint>
#include <utility>

#include "aten/blas/fft/Kernels.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::blas::fft {
namespace CPU_CAPABILITY {

namespace {

/// Complex numbers, one for each lane of V.
template <class V>
struct Lanes {
  V real, imag;
};

template <class V>
inline Lanes<V> operator+(Lanes<V> a, Lanes<V> b) {
  return {a.real + b.real, a.imag + b.imag};
}

template <class V>
inline Lanes<V> operator-(Lanes<V> a, Lanes<V> b) {
  return {a.real - b.real, a.imag - b.imag};
}

template <class V, class T>
inline Lanes<V> operator*(Lanes<V> a, T factor) {
  return {a.real * factor, a.imag * factor};
}

/// a * (real + i imag)
template <class V, class T>
inline Lanes<V> turned(Lanes<V> a, T real, T imag) {
  return {a.real * real - a.imag * imag, a.real * imag + a.imag * real};
}

/// -i a
template <class V>
inline Lanes<V> quarter_turn(Lanes<V> a) {
  return {a.imag, -a.real};
}

constexpr double kSin60 = 0.86602540378443864676;
constexpr double kSin45 = 0.70710678118654752440;
constexpr double kCos72 = 0.30901699437494742410;
constexpr double kSin72 = 0.95105651629515357212;
constexpr double kCos144 = -0.80901699437494742410;
constexpr double kSin144 = 0.58778525229247312917;

template <class T, class V>
inline void transform2(Lanes<V>* x) {
  const Lanes<V> first = x[0];
  x[0] = first + x[1];
  x[1] = first - x[1];
}

template <class T, class V>
inline void transform3(Lanes<V>* x) {
  const Lanes<V> sum = x[1] + x[2];
  const Lanes<V> side = quarter_turn((x[1] - x[2]) * T(kSin60));
  const Lanes<V> middle = x[0] - sum * T(0.5);

  x[0] = x[0] + sum;
  x[1] = middle + side;
  x[2] = middle - side;
}

template <class T, class V>
inline void transform4(Lanes<V>& x0, Lanes<V>& x1, Lanes<V>& x2, Lanes<V>& x3) {
  const Lanes<V> even_sum = x0 + x2;
  const Lanes<V> even_difference = x0 - x2;
  const Lanes<V> odd_sum = x1 + x3;
  const Lanes<V> odd_difference = quarter_turn(x1 - x3);

  x0 = even_sum + odd_sum;
  x1 = even_difference + odd_difference;
  x2 = even_sum - odd_sum;
  x3 = even_difference - odd_difference;
}

template <class T, class V>
inline void transform5(Lanes<V>* x) {
  const Lanes<V> outer_sum = x[1] + x[4];
  const Lanes<V> inner_sum = x[2] + x[3];
  const Lanes<V> outer = quarter_turn(x[1] - x[4]);
  const Lanes<V> inner = quarter_turn(x[2] - x[3]);
  const Lanes<V> first = x[0];

  const Lanes<V> near = first + outer_sum * T(kCos72) + inner_sum * T(kCos144);
  const Lanes<V> far = first + outer_sum * T(kCos144) + inner_sum * T(kCos72);
  const Lanes<V> near_side = outer * T(kSin72) + inner * T(kSin144);
  const Lanes<V> far_side = outer * T(kSin144) - inner * T(kSin72);

  x[0] = first + outer_sum + inner_sum;
  x[1] = near + near_side;
  x[2] = far + far_side;
  x[3] = far - far_side;
  x[4] = near - near_side;
}

template <class T, class V>
inline void transform8(Lanes<V>* x) {
  transform4<T>(x[0], x[2], x[4], x[6]);
  transform4<T>(x[1], x[3], x[5], x[7]);
  const Lanes<V> odd0 = x[1];
  const Lanes<V> odd1 = Lanes<V>{x[3].real + x[3].imag, x[3].imag - x[3].real} * T(kSin45);
  const Lanes<V> odd2 = quarter_turn(x[5]);
  const Lanes<V> odd3 = Lanes<V>{x[7].imag - x[7].real, -(x[7].real + x[7].imag)} * T(kSin45);

  const Lanes<V> even0 = x[0];
  const Lanes<V> even1 = x[2];
  const Lanes<V> even2 = x[4];
  const Lanes<V> even3 = x[6];
  x[0] = even0 + odd0;
  x[1] = even1 + odd1;
  x[2] = even2 + odd2;
  x[3] = even3 + odd3;
  x[4] = even0 - odd0;
  x[5] = even1 - odd1;
  x[6] = even2 - odd2;
  x[7] = even3 - odd3;
}

template <int kRadix, class T, class V>
inline void transform_points(Lanes<V>* x) {
  if constexpr (kRadix == 2) transform2<T>(x);
  else if constexpr (kRadix == 3) transform3<T>(x);
  else if constexpr (kRadix == 4) transform4<T>(x[0], x[1], x[2], x[3]);
  else if constexpr (kRadix == 5) transform5<T>(x);
  else transform8<T>(x);
}

/// For any odd radix: sums and differences of opposite points share their roots.
template <class T, class V>
inline void transform_odd(int64_t radix, const T* turns, Lanes<V>* x, Lanes<V>* out) {
  const int64_t half = radix / 2;
  const Lanes<V> first = x[0];
  out[0] = first;
  for (int64_t j = 1; j <= half; ++j) {
    const Lanes<V> opposite = x[radix - j];
    x[radix - j] = x[j] - opposite;
    x[j] = x[j] + opposite;
    out[0] = out[0] + x[j];
  }

  for (int64_t r = 1; r <= half; ++r) {
    Lanes<V> sum = first;
    Lanes<V> difference = {V{}, V{}};
    int64_t turn = 0;
    for (int64_t j = 1; j <= half; ++j) {
      turn = turn + r < radix ? turn + r : turn + r - radix;
      sum = sum + x[j] * turns[2 * turn];
      difference = difference + x[radix - j] * turns[2 * turn + 1];
    }

    // `difference` has yet to be multiplied by i.
    out[r] = sum - quarter_turn(difference);
    out[radix - r] = sum + quarter_turn(difference);
  }
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::fft
