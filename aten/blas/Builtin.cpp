// Our own products: threads, complex numbers and strided vectors around the kernels.
#include "aten/blas/Builtin.h"

#include <algorithm>
#include <type_traits>

#include "aten/blas/Runtime.h"

namespace at::blas::builtin {

// The tables of BuiltinKernels.isa.cpp; null where the build does not have the instruction set.
namespace DEFAULT {
extern const Table kTable;
}
namespace AVX2 {
[[gnu::weak]] extern const Table kTable;
}
namespace AVX512 {
[[gnu::weak]] extern const Table kTable;
}

const Table& table() {
  const int capability = runtime().capability;
  if (capability >= 2 && &AVX512::kTable != nullptr) return AVX512::kTable;
  if (capability >= 1 && &AVX2::kTable != nullptr) return AVX2::kTable;
  return DEFAULT::kTable;
}

namespace {

/// The kernels for element type In, as a reference to the table's entry, whose types tell what to
/// cast to.
template <class In>
const auto& kernels_for() {
  const Table& t = table();
  if constexpr (std::is_same_v<In, float>) return t.f32;
  else if constexpr (std::is_same_v<In, double>) return t.f64;
  else if constexpr (std::is_same_v<In, c10::BFloat16>) return t.bf16;
  else if constexpr (std::is_same_v<In, c10::Half>) return t.f16;
  else if constexpr (sizeof(In) == 1) return t.u8;
  else if constexpr (sizeof(In) == 2) return t.u16;
  else if constexpr (sizeof(In) == 4) return t.u32;
  else return t.u64;
}

/// The type that a kernel takes for In: the unsigned one for integers.
template <class In>
struct KernelType {
  using type = In;
};
template <class In>
  requires std::is_integral_v<In>
struct KernelType<In> {
  using type = std::make_unsigned_t<In>;
};

// The least work for a thread, worth about 50 µs.
constexpr int64_t kMinimumWork = int64_t{1} << 20;

/// The number of parts that rows and columns are cut into.
struct Grid {
  int64_t rows, columns;
};

/// Chooses parts that are as square as possible and not too small.
Grid choose_grid(int64_t m, int64_t n, int64_t k) {
  const int64_t work = m * n * std::max<int64_t>(k, 1);
  const int64_t parts = std::clamp<int64_t>(work / kMinimumWork, 1, runtime().threads());

  Grid best{1, 1};
  double best_border = 1e300;
  for (int64_t rows = 1; rows <= parts; ++rows) {
    if (parts % rows != 0) continue;
    const int64_t columns = parts / rows;
    const double border = static_cast<double>(m) / static_cast<double>(rows) +
                          static_cast<double>(n) / static_cast<double>(columns);
    if (rows <= std::max<int64_t>(1, m / 16) && columns <= std::max<int64_t>(1, n / 4) &&
        border < best_border) {
      best = {rows, columns};
      best_border = border;
    }
  }

  return best;
}

/// C is cut into a grid of parts, each computed by one thread.
template <class In, class T>
void gemm_threaded(GemmKernel<In, T> kernel, bool ta, bool tb, int64_t m, int64_t n, int64_t k,
                   T alpha, const In* a, int64_t lda, const In* b, int64_t ldb, T beta, T* c,
                   int64_t ldc) {
  const Grid grid = choose_grid(m, n, k);
  parallel_for(0, grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t row = part % grid.rows;
      const int64_t column = part / grid.rows;
      const int64_t i0 = m * row / grid.rows, i1 = m * (row + 1) / grid.rows;
      const int64_t j0 = n * column / grid.columns, j1 = n * (column + 1) / grid.columns;

      kernel(ta, tb, i1 - i0, j1 - j0, k, alpha, a + i0 * (ta ? lda : 1), lda,
             b + j0 * (tb ? 1 : ldb), ldb, beta, c + i0 + j0 * ldc, ldc);
    }
  });
}

/// Products of reduced floats: sums stay in float until the end.
template <class In>
void gemm_reduced(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const In* a,
                  int64_t lda, const In* b, int64_t ldb, float beta, In* c, int64_t ldc) {
  Buffer<float> sums(m * n);
  gemm_threaded<In, float>(kernels_for<In>().gemm, ta, tb, m, n, k, alpha, a, lda, b, ldb, 0.0f,
                           sums.data(), m);
  add_rounded(m, n, sums.data(), beta, c, ldc);
}

/// The real and the imaginary part of a rows x columns matrix, each contiguous.
template <class T>
struct Planes {
  Planes(const c10::complex<T>* a, int64_t lda, int64_t rows, int64_t columns, bool conjugate)
      : real(rows * columns), imag(rows * columns) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        const c10::complex<T> value = a[i + j * lda];
        real[i + j * rows] = value.real();
        imag[i + j * rows] = conjugate ? -value.imag() : value.imag();
      }
    }
  }

  Buffer<T> real;
  Buffer<T> imag;
};

/// A complex product as four real ones.
template <class T>
void gemm_complex(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
                  c10::complex<T> alpha, const c10::complex<T>* a, int64_t lda,
                  const c10::complex<T>* b, int64_t ldb, c10::complex<T> beta, c10::complex<T>* c,
                  int64_t ldc) {
  const bool ta = transpose_a != Transpose::None;
  const bool tb = transpose_b != Transpose::None;
  const int64_t rows_a = ta ? k : m;
  const int64_t rows_b = tb ? n : k;
  Planes<T> pa(a, lda, rows_a, ta ? m : k, transpose_a == Transpose::Conjugate);
  Planes<T> pb(b, ldb, rows_b, tb ? k : n, transpose_b == Transpose::Conjugate);

  Buffer<T> real(m * n);
  Buffer<T> imag(m * n);
  const auto multiply = [&](T sign, Buffer<T>& x, Buffer<T>& y, T keep, Buffer<T>& out) {
    gemm_threaded<T, T>(kernels_for<T>().gemm, ta, tb, m, n, k, sign, x.data(), rows_a, y.data(),
                        rows_b, keep, out.data(), m);
  };

  multiply(T(1), pa.real, pb.real, T(0), real);
  multiply(T(-1), pa.imag, pb.imag, T(1), real);
  multiply(T(1), pa.real, pb.imag, T(0), imag);
  multiply(T(1), pa.imag, pb.real, T(1), imag);

  // C = alpha (real + i imag) + beta C.
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      const c10::complex<T> product = alpha * c10::complex<T>(real[i + j * m], imag[i + j * m]);
      c10::complex<T>& out = c[i + j * ldc];
      out = beta == c10::complex<T>(0) ? product : product + beta * out;
    }
  }
}

/// Matrix times vector for float and double. Strided vectors are copied; threads share the rows or
/// columns that make up y.
template <class T>
void gemv_real(GemvKernel<T> kernel, bool transpose, int64_t m, int64_t n, T alpha, const T* a,
               int64_t lda, const T* x, int64_t incx, T beta, T* y, int64_t incy) {
  const int64_t length_x = transpose ? m : n;
  const int64_t length_y = transpose ? n : m;
  Buffer<T> copy_x(incx == 1 ? 1 : length_x);
  Buffer<T> copy_y(incy == 1 ? 1 : length_y);
  if (incx != 1) {
    for (int64_t i = 0; i < length_x; ++i) copy_x[i] = x[i * incx];
    x = copy_x.data();
  }
  T* const out = incy == 1 ? y : copy_y.data();

  const int64_t grain = std::max<int64_t>(16, (kMinimumWork / 8) / std::max<int64_t>(1, length_x));
  parallel_for(0, length_y, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = beta == T(0) ? T(0) : beta * y[i * incy];
    if (transpose) kernel(true, m, end - begin, alpha, a + begin * lda, lda, x, out + begin);
    else kernel(false, end - begin, n, alpha, a + begin, lda, x, out + begin);
  });

  if (incy != 1) {
    for (int64_t i = 0; i < length_y; ++i) y[i * incy] = out[i];
  }
}

}  // namespace

template <class T>
void add_rounded(int64_t m, int64_t n, const float* sums, float beta, T* c, int64_t ldc) {
  parallel_for(0, n, std::max<int64_t>(1, 65536 / m), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        const float old = beta == 0.0f ? 0.0f : beta * static_cast<float>(c[i + j * ldc]);
        c[i + j * ldc] = T(sums[i + j * m] + old);
      }
    }
  });
}

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c,
          int64_t ldc) {
  const bool ta = transpose_a != Transpose::None;
  const bool tb = transpose_b != Transpose::None;

  if constexpr (c10::is_complex_v<T>) {
    gemm_complex(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (c10::is_reduced_floating_point_v<T>) {
    gemm_reduced(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else {
    using K = typename KernelType<T>::type;
    gemm_threaded<K, K>(kernels_for<K>().gemm, ta, tb, m, n, k, static_cast<K>(alpha),
                        reinterpret_cast<const K*>(a), lda, reinterpret_cast<const K*>(b), ldb,
                        static_cast<K>(beta), reinterpret_cast<K*>(c), ldc);
  }
}

template <class T>
void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a, int64_t lda,
          const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy) {
  if constexpr (std::is_same_v<T, float>) {
    gemv_real(table().gemv_f32, transpose != Transpose::None, m, n, alpha, a, lda, x, incx, beta, y,
              incy);
  } else if constexpr (std::is_same_v<T, double>) {
    gemv_real(table().gemv_f64, transpose != Transpose::None, m, n, alpha, a, lda, x, incx, beta, y,
              incy);
  } else {
    const int64_t k = transpose == Transpose::None ? n : m;
    const int64_t length = transpose == Transpose::None ? m : n;
    // x is a k x 1 matrix that is stored transposed, with column stride incx. y has no such form,
    // so a strided y is copied.
    Buffer<T> copy(incy == 1 ? 1 : length);
    T* const out = incy == 1 ? y : copy.data();
    for (int64_t i = 0; incy != 1 && i < length; ++i) out[i] = y[i * incy];
    builtin::gemm<T>(transpose, Transpose::Transpose, length, 1, k, alpha, a, lda, x, incx, beta,
                     out, length);
    for (int64_t i = 0; incy != 1 && i < length; ++i) y[i * incy] = out[i];
  }
}

template <class T>
T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, bool conjugate) {
  if constexpr (c10::is_complex_v<T>) {
    T sum(0);
    for (int64_t i = 0; i < n; ++i)
      sum += (conjugate ? conj(x[i * incx]) : x[i * incx]) * y[i * incy];
    return sum;
  } else {
    using K = typename KernelType<T>::type;
    return static_cast<T>(kernels_for<K>().dot(n, reinterpret_cast<const K*>(x), incx,
                                               reinterpret_cast<const K*>(y), incy));
  }
}

#define INSTANTIATE(T)                                                                       \
  template void gemm<T>(Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>, const T*, \
                        int64_t, const T*, int64_t, Scale<T>, T*, int64_t);                  \
  template void gemv<T>(Transpose, int64_t, int64_t, Scale<T>, const T*, int64_t, const T*,  \
                        int64_t, Scale<T>, T*, int64_t);                                     \
  template T dot<T>(int64_t, const T*, int64_t, const T*, int64_t, bool);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::complex<float>)
INSTANTIATE(c10::complex<double>)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(c10::Half)
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
INSTANTIATE(int16_t)
INSTANTIATE(int32_t)
INSTANTIATE(int64_t)
#undef INSTANTIATE
template void add_rounded<c10::BFloat16>(int64_t, int64_t, const float*, float, c10::BFloat16*,
                                         int64_t);
template void add_rounded<c10::Half>(int64_t, int64_t, const float*, float, c10::Half*, int64_t);

}  // namespace at::blas::builtin
