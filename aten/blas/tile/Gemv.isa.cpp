// Our own products of vectors, and of a matrix and a vector, for one core. Compiled with -O3.
#include <algorithm>
#include <type_traits>

#include "aten/blas/tile/Kernels.h"
#include "aten/blas/tile/Tile.h"

namespace at::blas::tile {
namespace CPU_CAPABILITY {

namespace {

/// a * b. Small unsigned numbers would be promoted to int, whose overflow is undefined.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t>)
    return static_cast<T>(uint32_t{a} * b);
  else return a * b;
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

// Enough columns at once for several streams from memory, and for sums to fill the registers; at
// most as many as lanes, for add_lanes().
template <class T>
constexpr int kColumns = std::min(kWidth<T>, kVectorBytes == 64 ? 8 : 4);
// Elements of y that stay in the first-level cache while columns are added to them.
constexpr int64_t kLines = 2048;

/// The sums of the lanes of C vectors, a power of two. They are halved in the same way for every C:
/// interleaved vectors, and then lanes of one vector.
template <class T, int C>
inline void add_lanes(Vector<T> (&values)[C], T* sums) {
  constexpr int W = kWidth<T>;
#pragma GCC unroll 8
  for (int half = C / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) {
      Vector<T> low, high;
      interleave<T>(values[i], values[i + half], low, high);
      values[i] = low + high;
    }
  }

  T lanes[W];
  store(lanes, values[0]);
  for (int half = W / 2; half >= C; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  for (int c = 0; c < C; ++c) sums[c] = lanes[c];
}

/// y[j] += alpha times column j times x, for C columns. Each column has two sums, whatever C is.
template <class T, int C>
void add_dots(int64_t m, T alpha, const T* a, int64_t lda, const T* x, T* y) {
  constexpr int W = kWidth<T>;
  Vector<T> even[C] = {};
  Vector<T> odd[C] = {};

  int64_t i = 0;
  for (; i + 2 * W <= m; i += 2 * W) {
    const Vector<T> first = load(x + i);
    const Vector<T> second = load(x + i + W);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      even[c] += load(a + c * lda + i) * first;
      odd[c] += load(a + c * lda + i + W) * second;
    }
  }

  for (; i < m; i += W) {
    const Prefix<T> part(std::min<int64_t>(W, m - i));
    const Vector<T> rest = part.load(x + i);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) even[c] += part.load(a + c * lda + i) * rest;
  }

  T sums[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) even[c] += odd[c];
  add_lanes<T, C>(even, sums);
  for (int c = 0; c < C; ++c) y[c] += alpha * sums[c];
}

// Few vectors times many, all along the depth. Every sum is one chain per lane of a register, in
// steps that depend on the depth only.

constexpr int kFewTogether = 4;

/// Wide registers take more dots at once, and so load less for each.
template <class T>
constexpr int64_t kMostFew = kWidth<T> * 4 / sizeof(T);

/// c = alpha * sum + beta * c for F x C dots, whose number is a power of two and at most a vector.
template <class T, int F, int C>
void multiply_dots(const Dots<T>& x, const T* few, const T* many, T* c) {
  constexpr int W = kWidth<T>;
  Vector<T> sum[F * C] = {};

  const auto step = [&](int64_t p, const auto& part) {
    Vector<T> factor[F];
#pragma GCC unroll 4
    for (int f = 0; f < F; ++f) factor[f] = part.load(few + f * x.few_step + p);
#pragma GCC unroll 4
    for (int m = 0; m < C; ++m) {
      const Vector<T> value = part.load(many + m * x.many_step + p);
#pragma GCC unroll 4
      for (int f = 0; f < F; ++f) sum[m * F + f] += factor[f] * value;
    }
  };

  const int64_t whole = x.depth / W * W;
  for (int64_t p = 0; p < whole; p += W) step(p, Whole<T>{});
  if (whole < x.depth) step(whole, Prefix<T>(x.depth - whole));

  T sums[F * C];
  add_lanes<T, F * C>(sum, sums);
  for (int m = 0; m < C; ++m) {
    for (int f = 0; f < F; ++f) {
      T& to = c[f * x.c_few_step + m * x.c_many_step];
      const T value = x.alpha * sums[m * F + f];
      to = x.beta == T(0) ? value : value + x.beta * to;
    }
  }
}

/// All the few times C of the many.
template <class T, int C>
void multiply_dots_of(const Dots<T>& x, const T* many, T* c) {
  constexpr int F = std::min(kFewTogether, kWidth<T> / C);
  int64_t f = 0;
  for (; f + F <= x.few; f += F)
    multiply_dots<T, F, C>(x, x.few_data + f * x.few_step, many, c + f * x.c_few_step);
  for (; f < x.few; ++f)
    multiply_dots<T, 1, C>(x, x.few_data + f * x.few_step, many, c + f * x.c_few_step);
}

template <class T>
void dots(const Dots<T>& x) {
  constexpr int C = std::min(4, std::max(2, kWidth<T> / kFewTogether));
  int64_t m = 0;
  for (; m + C <= x.many; m += C)
    multiply_dots_of<T, C>(x, x.many_data + m * x.many_step, x.c + m * x.c_many_step);
  for (; m < x.many; ++m)
    multiply_dots_of<T, 1>(x, x.many_data + m * x.many_step, x.c + m * x.c_many_step);
}

/// y += C columns of A, times elements of x, in the order of the columns.
template <class T, int C>
void add_columns(int64_t m, T alpha, const T* a, int64_t lda, const T* x, T* y) {
  constexpr int W = kWidth<T>;
  Vector<T> factor[C];
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c) factor[c] = broadcast(alpha * x[c]);

  int64_t i = 0;
  for (; i + W <= m; i += W) {
    Vector<T> sum = load(y + i);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum += load(a + c * lda + i) * factor[c];
    store(y + i, sum);
  }

  if (i < m) {
    const Prefix<T> part(m - i);
    Vector<T> sum = part.load(y + i);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum += part.load(a + c * lda + i) * factor[c];
    part.store(y + i, sum);
  }
}

template <class T>
void gemv(bool transpose, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x,
          T* y) {
  if (transpose) {
    int64_t j = 0;
    for (; j + kColumns<T> <= n; j += kColumns<T>)
      add_dots<T, kColumns<T>>(m, alpha, a + j * lda, lda, x, y + j);
    for (; j < n; ++j) add_dots<T, 1>(m, alpha, a + j * lda, lda, x, y + j);
    return;
  }

  for (int64_t i = 0; i < m; i += kLines) {
    const int64_t lines = std::min(kLines, m - i);
    int64_t j = 0;
    for (; j + kColumns<T> <= n; j += kColumns<T>)
      add_columns<T, kColumns<T>>(lines, alpha, a + i + j * lda, lda, x + j, y + i);
    for (; j < n; ++j) add_columns<T, 1>(lines, alpha, a + i + j * lda, lda, x + j, y + i);
  }
}

}  // namespace

extern const VectorTable kVectorTable;
const VectorTable kVectorTable = {
    kMostFew<float>,
    kMostFew<double>,
    &gemv<float>,
    &gemv<double>,
    &dots<float>,
    &dots<double>,
    &dot<float, float>,
    &dot<double, double>,
    &dot<c10::BFloat16, float>,
    &dot<c10::Half, float>,
    &dot<uint8_t, uint8_t>,
    &dot<uint16_t, uint16_t>,
    &dot<uint32_t, uint32_t>,
    &dot<uint64_t, uint64_t>,
};

}  // namespace CPU_CAPABILITY
}  // namespace at::blas::tile
