// LAPACK behind one interface: work space, threads, and drivers.
#include "aten/blas/Lapack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "aten/blas/Choice.h"
#include "aten/blas/LapackLibrary.h"
#include "aten/blas/Runtime.h"
#include "aten/blas/lapack/Factorizations.h"

namespace at::lapack {

namespace {

using blas::Buffer;

/// Whether factorizations by Gauss and Cholesky are our own.
constexpr bool kOwn = !blas::kHasLibrary;

/// Sizes in LAPACK have 32 bits.
int narrow(int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw std::runtime_error("LAPACK counts rows, columns and work space in 32 bits, got " +
                             std::to_string(value));
  }
  return static_cast<int>(value);
}

/// Leading dimensions must be plausible even for empty matrices.
int leading(int64_t ld) { return narrow(std::max<int64_t>(ld, 1)); }
char triangle(bool upper) { return upper ? 'U' : 'L'; }

// The number of multiplications below which a second thread costs more than it gains.
constexpr double kThreadedWork = 1 << 18;

void use_threads(int64_t m, int64_t n, int64_t k) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  library::set_threads(work < kThreadedWork ? 1 : blas::runtime().threads());
}

double real_part(double value) { return value; }
template <class T>
double real_part(c10::complex<T> value) {
  return value.real();
}

/// The size of the work space that LAPACK asks for. It is given in the precision of the matrix, in
/// which large numbers may have been rounded down.
template <class T>
int work_size(T wanted) {
  const double size = real_part(wanted);
  const double precision = sizeof(Real<T>) == 4 ? 0x1p-23 : 0.0;
  return std::max(1, narrow(static_cast<int64_t>(std::ceil(size * (1 + precision)))));
}

/// Asks `call(work, size)` how much work space it needs, then lets it work.
template <class T, class Call>
void with_work(const Call& call) {
  T wanted{};
  call(&wanted, -1);
  const int size = work_size(wanted);
  Buffer<T> work(size);
  call(work.data(), size);
}

/// The number of elements of its real work space that gesdd with complex matrices may use.
int64_t gesdd_real_work(char job, int64_t m, int64_t n) {
  const int64_t least = std::min(m, n);
  const int64_t most = std::max(m, n);
  if (job == 'N') return 7 * least;
  return std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least);
}

/// For real matrices LAPACK returns complex eigenvectors as pairs of columns: the real and the
/// imaginary part of the first of two conjugates.
template <class R>
void assemble_vectors(int64_t n, const R* imaginary, const R* packed, c10::complex<R>* v) {
  for (int64_t j = 0; j < n; ++j) {
    const R* first = packed + j * n;
    const bool paired = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R im = paired ? first[n + i] : R(0);
      v[j * n + i] = {first[i], im};
      if (paired) v[(j + 1) * n + i] = {first[i], -im};
    }
    if (paired) ++j;
  }
}

template <class T>
int by_pivoted_qr(int m, int n, int columns, T* a, int lda, T* b, int ldb, Real<T> rcond,
                  int32_t* rank) {
  int info = 0;
  std::vector<int32_t> free_columns(static_cast<size_t>(n) + 1, 0);
  Buffer<Real<T>> real_work(2 * n + 1);
  with_work<T>([&](T* work, int size) {
    library::gelsy(m, n, columns, a, lda, b, ldb, free_columns.data(), rcond, rank, work, size,
                   real_work.data(), &info);
  });
  return info;
}

template <class T>
int by_divide_and_conquer(int m, int n, int columns, T* a, int lda, T* b, int ldb, Real<T> rcond,
                          Real<T>* values, int32_t* rank) {
  int info = 0;
  int indices_wanted = 0;
  T wanted{};
  Real<T> real_wanted{};
  library::gelsd(m, n, columns, a, lda, b, ldb, values, rcond, rank, &wanted, -1, &real_wanted,
                 &indices_wanted, &info);

  const int size = work_size(wanted);
  Buffer<T> work(size);
  Buffer<Real<T>> real_work(work_size(real_wanted));
  Buffer<int32_t> indices(std::max(1, indices_wanted));
  library::gelsd(m, n, columns, a, lda, b, ldb, values, rcond, rank, work.data(), size,
                 real_work.data(), indices.data(), &info);
  return info;
}

}  // namespace

bool available() { return library::is_available(); }

template <class T>
int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  if constexpr (kOwn) return own::getrf(m, n, a, lda, pivots);

  use_threads(m, n, std::min(m, n));
  int info = 0;
  library::getrf(narrow(m), narrow(n), a, leading(lda), pivots, &info);
  return info;
}

template <class T>
void getrs(Transpose transpose, int64_t n, int64_t columns, const T* factors, int64_t lda,
           const int32_t* pivots, T* b, int64_t ldb) {
  if constexpr (kOwn) return own::getrs(transpose, n, columns, factors, lda, pivots, b, ldb);

  use_threads(n, n, columns);
  int info = 0;
  library::getrs(static_cast<char>(transpose), narrow(n), narrow(columns), factors, leading(lda),
                 pivots, b, leading(ldb), &info);
}

template <class T>
int potrf(bool upper, int64_t n, T* a, int64_t lda) {
  if constexpr (kOwn) return own::potrf(upper, n, a, lda);

  use_threads(n, n, n);
  int info = 0;
  library::potrf(triangle(upper), narrow(n), a, leading(lda), &info);
  return info;
}

template <class T>
void potrs(bool upper, int64_t n, int64_t columns, const T* factor, int64_t lda, T* b,
           int64_t ldb) {
  if constexpr (kOwn) return own::potrs(upper, n, columns, factor, lda, b, ldb);

  use_threads(n, n, columns);
  int info = 0;
  library::potrs(triangle(upper), narrow(n), narrow(columns), factor, leading(lda), b, leading(ldb),
                 &info);
}

template <class T>
int potri(bool upper, int64_t n, T* factor, int64_t lda) {
  if constexpr (kOwn) return own::potri(upper, n, factor, lda);

  use_threads(n, n, n);
  int info = 0;
  library::potri(triangle(upper), narrow(n), factor, leading(lda), &info);
  return info;
}

template <class T>
int sytrf(bool hermitian, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  use_threads(n, n, n);
  int info = 0;
  with_work<T>([&](T* work, int size) {
    const auto factor = [&](auto... arguments) {
      return hermitian ? library::hetrf(arguments...) : library::sytrf(arguments...);
    };
    factor('L', narrow(n), a, leading(lda), pivots, work, size, &info);
  });
  return info;
}

template <class T>
void sytrs(bool hermitian, int64_t n, int64_t columns, const T* factors, int64_t lda,
           const int32_t* pivots, T* b, int64_t ldb) {
  use_threads(n, n, columns);
  int info = 0;
  const auto solve = [&](auto... arguments) {
    return hermitian ? library::hetrs(arguments...) : library::sytrs(arguments...);
  };
  solve('L', narrow(n), narrow(columns), factors, leading(lda), pivots, b, leading(ldb), &info);
}

template <class T>
void geqrf(int64_t m, int64_t n, T* a, int64_t lda, T* tau) {
  use_threads(m, n, std::min(m, n));
  int info = 0;
  with_work<T>([&](T* work, int size) {
    library::geqrf(narrow(m), narrow(n), a, leading(lda), tau, work, size, &info);
  });
}

template <class T>
void orgqr(int64_t m, int64_t n, int64_t k, T* a, int64_t lda, const T* tau) {
  use_threads(m, n, k);
  int info = 0;
  with_work<T>([&](T* work, int size) {
    library::orgqr(narrow(m), narrow(n), narrow(k), a, leading(lda), tau, work, size, &info);
  });
}

template <class T>
void ormqr(bool left, Transpose transpose, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
           const T* tau, T* c, int64_t ldc) {
  use_threads(m, n, k);
  int info = 0;
  with_work<T>([&](T* work, int size) {
    library::ormqr(left ? 'L' : 'R', static_cast<char>(transpose), narrow(m), narrow(n), narrow(k),
                   a, leading(lda), tau, c, leading(ldc), work, size, &info);
  });
}

template <class T>
int gesdd(char job, int64_t m, int64_t n, T* a, int64_t lda, Real<T>* s, T* u, int64_t ldu, T* vh,
          int64_t ldvh) {
  use_threads(m, n, std::min(m, n));
  int info = 0;
  Buffer<int32_t> indices(8 * std::min(m, n) + 1);
  Buffer<Real<T>> real_work(c10::is_complex_v<T> ? gesdd_real_work(job, m, n) + 1 : 1);
  with_work<T>([&](T* work, int size) {
    library::gesdd(job, narrow(m), narrow(n), a, leading(lda), s, u, leading(ldu), vh,
                   leading(ldvh), work, size, real_work.data(), indices.data(), &info);
  });
  return info;
}

template <class T>
int syevd(bool vectors, bool upper, int64_t n, T* a, int64_t lda, Real<T>* values) {
  use_threads(n, n, n);
  int info = 0;
  int indices_wanted = 0;
  T wanted{};
  Real<T> real_wanted{};

  const auto call = [&](T* work, int size, Real<T>* real_work, int real_size, int32_t* indices,
                        int index_size) {
    library::syevd(vectors ? 'V' : 'N', triangle(upper), narrow(n), a, leading(lda), values, work,
                   size, real_work, real_size, indices, index_size, &info);
  };

  call(&wanted, -1, &real_wanted, -1, &indices_wanted, -1);
  const int size = work_size(wanted);
  const int real_size = work_size(real_wanted);
  Buffer<T> work(size);
  Buffer<Real<T>> real_work(real_size);
  Buffer<int32_t> indices(std::max(1, indices_wanted));

  call(work.data(), size, real_work.data(), real_size, indices.data(), std::max(1, indices_wanted));
  return info;
}

template <class T>
int geev(int64_t n, T* a, int64_t lda, c10::complex<Real<T>>* values, c10::complex<Real<T>>* v) {
  use_threads(n, n, n);
  int info = 0;
  const char job = v ? 'V' : 'N';

  if constexpr (c10::is_complex_v<T>) {
    Buffer<Real<T>> real_work(2 * n + 1);
    with_work<T>([&](T* work, int size) {
      library::geev(job, narrow(n), a, leading(lda), values, v, leading(n), work, size,
                    real_work.data(), &info);
    });
  } else {
    Buffer<T> real(n + 1);
    Buffer<T> imaginary(n + 1);
    Buffer<T> packed(v ? n * n + 1 : 1);
    with_work<T>([&](T* work, int size) {
      library::geev(job, narrow(n), a, leading(lda), real.data(), imaginary.data(), packed.data(),
                    leading(n), work, size, &info);
    });

    for (int64_t i = 0; i < n; ++i) values[i] = {real[i], imaginary[i]};
    if (v) assemble_vectors<T>(n, imaginary.data(), packed.data(), v);
  }

  return info;
}

template <class T>
int least_squares(LeastSquares driver, int64_t m, int64_t n, int64_t columns, T* a, int64_t lda,
                  T* b, int64_t ldb, Real<T> rcond, Real<T>* values, int32_t* rank) {
  use_threads(m, n, std::min(m, n));
  const int rows = narrow(m);
  const int width = narrow(n);
  const int sides = narrow(columns);
  const int ld_a = leading(lda);
  const int ld_b = leading(ldb);
  int info = 0;

  switch (driver) {
    case LeastSquares::PivotedQr:
      return by_pivoted_qr<T>(rows, width, sides, a, ld_a, b, ld_b, rcond, rank);
    case LeastSquares::DivideAndConquer:
      return by_divide_and_conquer<T>(rows, width, sides, a, ld_a, b, ld_b, rcond, values, rank);
    case LeastSquares::Qr:
      with_work<T>([&](T* work, int size) {
        library::gels('N', rows, width, sides, a, ld_a, b, ld_b, work, size, &info);
      });
      return info;
    case LeastSquares::Svd: break;
  }

  Buffer<Real<T>> real_work(5 * std::min(m, n) + 1);
  with_work<T>([&](T* work, int size) {
    library::gelss(rows, width, sides, a, ld_a, b, ld_b, values, rcond, rank, work, size,
                   real_work.data(), &info);
  });
  return info;
}

template <class T>
void trsm(bool left, bool upper, Transpose transpose, bool unit_diagonal, int64_t m, int64_t n,
          const T* a, int64_t lda, T* b, int64_t ldb) {
  if (m == 0 || n == 0) return;
  if constexpr (kOwn) return own::trsm(left, upper, transpose, unit_diagonal, m, n, a, lda, b, ldb);

  use_threads(m, n, left ? m : n);
  library::trsm(left ? 'L' : 'R', triangle(upper), static_cast<char>(transpose),
                unit_diagonal ? 'U' : 'N', narrow(m), narrow(n), T(1), a, leading(lda), b,
                leading(ldb));
}

#define INSTANTIATE(T)                                                                             \
  template TORCH_PY_API int getrf<T>(int64_t, int64_t, T*, int64_t, int32_t*);                     \
  template TORCH_PY_API void getrs<T>(Transpose, int64_t, int64_t, const T*, int64_t,              \
                                      const int32_t*, T*, int64_t);                                \
  template TORCH_PY_API int potrf<T>(bool, int64_t, T*, int64_t);                                  \
  template TORCH_PY_API void potrs<T>(bool, int64_t, int64_t, const T*, int64_t, T*, int64_t);     \
  template TORCH_PY_API int potri<T>(bool, int64_t, T*, int64_t);                                  \
  template TORCH_PY_API int sytrf<T>(bool, int64_t, T*, int64_t, int32_t*);                        \
  template TORCH_PY_API void sytrs<T>(bool, int64_t, int64_t, const T*, int64_t, const int32_t*,   \
                                      T*, int64_t);                                                \
  template TORCH_PY_API void geqrf<T>(int64_t, int64_t, T*, int64_t, T*);                          \
  template TORCH_PY_API void orgqr<T>(int64_t, int64_t, int64_t, T*, int64_t, const T*);           \
  template TORCH_PY_API void ormqr<T>(bool, Transpose, int64_t, int64_t, int64_t, const T*,        \
                                      int64_t, const T*, T*, int64_t);                             \
  template TORCH_PY_API int gesdd<T>(char, int64_t, int64_t, T*, int64_t, Real<T>*, T*, int64_t,   \
                                     T*, int64_t);                                                 \
  template TORCH_PY_API int syevd<T>(bool, bool, int64_t, T*, int64_t, Real<T>*);                  \
  template TORCH_PY_API int geev<T>(int64_t, T*, int64_t, c10::complex<Real<T>>*,                  \
                                    c10::complex<Real<T>>*);                                       \
  template TORCH_PY_API int least_squares<T>(LeastSquares, int64_t, int64_t, int64_t, T*, int64_t, \
                                             T*, int64_t, Real<T>, Real<T>*, int32_t*);            \
  template TORCH_PY_API void trsm<T>(bool, bool, Transpose, bool, int64_t, int64_t, const T*,      \
                                     int64_t, T*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::complex<float>)
INSTANTIATE(c10::complex<double>)
#undef INSTANTIATE

}  // namespace at::lapack
