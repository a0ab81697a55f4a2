// What Fourier transforms load and store: vectors of work space, rows and columns of matrices.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "aten/blas/fft/Butterflies.h"
#include "aten/blas/tile/Vector.h"

namespace at::blas::fft {
namespace CPU_CAPABILITY {

namespace {

namespace vectors = tile::CPU_CAPABILITY;
using vectors::kWidth;
using vectors::Vector;

template <class V, class T>
inline Lanes<V> load_lanes(const T* from) {
  Lanes<V> value;
  std::memcpy(&value.real, from, sizeof(V));
  std::memcpy(&value.imag, reinterpret_cast<const char*>(from) + sizeof(V), sizeof(V));
  return value;
}

template <class V, class T>
inline void store_lanes(T* to, Lanes<V> value) {
  std::memcpy(to, &value.real, sizeof(V));
  std::memcpy(reinterpret_cast<char*>(to) + sizeof(V), &value.imag, sizeof(V));
}

/// Lanes are rows: numbers i of all rows become vector i, or its neighbour if real and imaginary
/// parts are exchanged.
template <class T>
void load_rows(const T* in, int64_t step, int64_t numbers, int64_t rows, bool exchange, T* out) {
  constexpr int W = kWidth<T>;
  const T* row[W];
  for (int r = 0; r < W; ++r) row[r] = in + (r < rows ? r : 0) * step;

  int64_t i = 0;
  for (; i + W <= numbers; i += W) {
    Vector<T> square[W];
    for (int r = 0; r < W; ++r) square[r] = vectors::load(row[r] + i);
    vectors::transpose_square<T>(square);
    for (int l = 0; l < W; ++l) vectors::store(out + ((i + l) ^ int64_t{exchange}) * W, square[l]);
  }

  for (; i < numbers; ++i) {
    for (int r = 0; r < W; ++r) out[(i ^ int64_t{exchange}) * W + r] = row[r][i];
  }
}

template <class T>
void store_rows(const T* in, int64_t numbers, int64_t rows, bool exchange, T scale, T* out,
                int64_t step) {
  constexpr int W = kWidth<T>;
  int64_t i = 0;
  for (; i + W <= numbers; i += W) {
    Vector<T> square[W];
    for (int l = 0; l < W; ++l)
      square[l] = vectors::load(in + ((i + l) ^ int64_t{exchange}) * W) * scale;
    vectors::transpose_square<T>(square);
    if (rows == W) {
      for (int r = 0; r < W; ++r) vectors::store(out + r * step + i, square[r]);
    } else {
      for (int r = 0; r < rows; ++r) vectors::store(out + r * step + i, square[r]);
    }
  }

  for (; i < numbers; ++i) {
    for (int64_t r = 0; r < rows; ++r)
      out[r * step + i] = in[(i ^ int64_t{exchange}) * W + r] * scale;
  }
}

/// The even (0) or odd (1) numbers of two vectors.
template <int kOffset, class T, int... I>
inline Vector<T> every_second(Vector<T> a, Vector<T> b, std::integer_sequence<int, I...>) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, (2 * I + kOffset)...);
#else
  return __builtin_shuffle(a, b, Vector<vectors::ShuffleIndex<T>>{(2 * I + kOffset)...});
#endif
}

/// Lanes are columns; without all of them, the others are 0.
template <class T>
inline Lanes<Vector<T>> load_columns(const T* in, int64_t columns) {
  constexpr int W = kWidth<T>;
  T few[2 * W];
  if (columns < W) {
    std::copy(in, in + 2 * columns, few);
    std::fill(few + 2 * columns, few + 2 * W, T(0));
    in = few;
  }

  const Vector<T> first = vectors::load(in);
  const Vector<T> second = vectors::load(in + W);
  constexpr auto lanes = std::make_integer_sequence<int, W>{};
  return {every_second<0, T>(first, second, lanes), every_second<1, T>(first, second, lanes)};
}

template <class T>
inline void store_columns(T* out, int64_t columns, Lanes<Vector<T>> value) {
  constexpr int W = kWidth<T>;
  Vector<T> first;
  Vector<T> second;
  vectors::interleave<T>(value.real, value.imag, first, second);
  if (columns >= W) {
    vectors::store(out, first);
    vectors::store(out + W, second);
    return;
  }

  T few[2 * W];
  vectors::store(few, first);
  vectors::store(few + W, second);
  std::copy(few, few + 2 * columns, out);
}

template <class V>
inline Lanes<V> exchanged(Lanes<V> value, bool exchange) {
  return exchange ? Lanes<V>{value.imag, value.real} : value;
}

}  // namespace
}  // namespace CPU_CAPABILITY
}  // namespace at::blas::fft
