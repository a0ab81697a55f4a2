// Chooses between the BLAS library and our own kernels for each product.
#include "aten/blas/Blas.h"

#include <algorithm>
#include <climits>

#include "aten/blas/Builtin.h"
#include "aten/blas/Choice.h"
#include "aten/blas/Library.h"
#include "aten/blas/Runtime.h"
#include "aten/blas/tile/Epilogue.h"

namespace at::blas {

namespace {

constexpr Runtime kSerial = {
    [] { return 1; },
    [](int64_t begin, int64_t end, int64_t, const void* function,
       void (*call)(const void*, int64_t, int64_t)) {
      if (begin < end) call(function, begin, end);
    },
    [] { return false; },
    0,
    false,
    false,
};
constinit Runtime current_runtime = kSerial;

// The number of multiplications below which a second thread costs more than it gains (about 20 µs
// of one core).
constexpr double kThreadedWork = 1 << 20;

/// Sets the library's number of threads for a call of `work` multiplications if the library can
/// take it: its sizes have 32 bits.
template <class... Sizes>
bool prepare_library(double work, Sizes... sizes) {
  if (((sizes > INT_MAX) || ...)) return false;
  library::set_threads(work < kThreadedWork ? 1 : runtime().threads());
  return true;
}

double work_of(int64_t m, int64_t n, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

bool is_transposed(Transpose transpose) { return transpose != Transpose::None; }

/// The stride between columns matters only if there are several; libraries insist on a plausible
/// one in any case.
int64_t leading_dimension(int64_t ld, int64_t rows, int64_t columns) {
  return columns <= 1 ? std::max<int64_t>({ld, rows, 1}) : std::max<int64_t>(ld, 1);
}

/// A product with one row or column is a matrix times a vector, which libraries compute better that
/// way. Returns true if it did.
template <class T>
bool gemm_as_gemv(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, Scale<T> alpha,
                  const T* a, int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c,
                  int64_t ldc) {
  if (k == 0) return false;

  if (n == 1 && tb != Transpose::Conjugate) {
    gemv<T>(ta, is_transposed(ta) ? k : m, is_transposed(ta) ? m : k, alpha, a, lda, b,
            is_transposed(tb) ? ldb : 1, beta, c, 1);
    return true;
  }

  // The row of C is op(B) transposed times the row of op(A).
  if (m == 1 && ta != Transpose::Conjugate && tb != Transpose::Conjugate) {
    gemv<T>(is_transposed(tb) ? Transpose::None : Transpose::Transpose, is_transposed(tb) ? n : k,
            is_transposed(tb) ? k : n, alpha, b, ldb, a, is_transposed(ta) ? 1 : lda, beta, c, ldc);
    return true;
  }

  return false;
}

/// What the tiles do to C themselves, for the products of others.
template <class T>
void finish(const Epilogue<T>* epilogue, int64_t matrix, int64_t m, int64_t n, T* c, int64_t ldc) {
  if constexpr (std::is_same_v<T, Scale<T>>) {
    if (epilogue) tile::CPU_CAPABILITY::apply_epilogue(*epilogue, matrix, {0, n, 0, m}, c, ldc);
  }
}

/// A batch that shares A, and whose matrices continue each other, is one product.
template <class T>
bool is_one_product(Transpose tb, int64_t n, int64_t stride_a, int64_t ldb, int64_t stride_b,
                    int64_t ldc, int64_t stride_c, const Epilogue<T>* epilogue) {
  return stride_a == 0 && tb == Transpose::None && stride_b == n * ldb && stride_c == n * ldc &&
         (epilogue == nullptr || epilogue->batch_step == n * epilogue->column_step);
}

template <class T>
T any_dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, bool conjugate) {
  if constexpr (library::serves<T>) {
    if (library_wanted_for_vectors() && prepare_library(0, n, incx, incy)) {
      return library::dot(static_cast<int>(n), x, static_cast<int>(incx), y, static_cast<int>(incy),
                          conjugate);
    }
  }
  return builtin::dot<T>(n, x, incx, y, incy, conjugate);
}

}  // namespace

const Runtime& runtime() { return current_runtime; }
void set_runtime(const Runtime& runtime) { current_runtime = runtime; }

template <class T>
void gemm(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, Scale<T> alpha, const T* a,
          int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c, int64_t ldc,
          const Epilogue<T>* epilogue) {
  if (m == 0 || n == 0) return;

  const bool a_transposed = is_transposed(ta);
  const bool b_transposed = is_transposed(tb);
  lda = leading_dimension(lda, a_transposed ? k : m, a_transposed ? m : k);
  ldb = leading_dimension(ldb, b_transposed ? n : k, b_transposed ? k : n);

  if constexpr (library::serves<T> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (gemm_as_gemv<T>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
      return finish(epilogue, 0, m, n, c, leading_dimension(ldc, m, n));
  }

  ldc = leading_dimension(ldc, m, n);

  if constexpr (library::serves<T>) {
    const double work = work_of(m, n, k);
    if (library_wanted<T>(work) && prepare_library(work, m, n, k, lda, ldb, ldc)) {
      library::gemm(ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
                    static_cast<int>(lda), b, static_cast<int>(ldb), beta, c,
                    static_cast<int>(ldc));
      return finish(epilogue, 0, m, n, c, ldc);
    }
  }

  // No library serves the type, or the call, or none is faster.
  builtin::gemm<T>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, epilogue);
}

template <class T>
void gemm_batched_strided(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k,
                          Scale<T> alpha, const T* a, int64_t lda, int64_t stride_a, const T* b,
                          int64_t ldb, int64_t stride_b, Scale<T> beta, T* c, int64_t ldc,
                          int64_t stride_c, int64_t batch, const Epilogue<T>* epilogue) {
  if (m == 0 || n == 0 || batch == 0) return;

  const bool a_transposed = is_transposed(ta);
  const bool b_transposed = is_transposed(tb);
  lda = leading_dimension(lda, a_transposed ? k : m, a_transposed ? m : k);
  ldb = leading_dimension(ldb, b_transposed ? n : k, b_transposed ? k : n);
  ldc = leading_dimension(ldc, m, n);

  if (batch == 1 || is_one_product(tb, n, stride_a, ldb, stride_b, ldc, stride_c, epilogue))
    return gemm<T>(ta, tb, m, n * batch, k, alpha, a, lda, b, ldb, beta, c, ldc, epilogue);

  if constexpr (library::serves<T> && library::kHasBatchedGemm) {
    const double work = work_of(m, n, k);
    if (library_wanted<T>(work) && prepare_library(work * static_cast<double>(batch), m, n, k, lda,
                                                   ldb, ldc, stride_a, stride_b, stride_c, batch)) {
      library::gemm_batched(ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                            alpha, a, static_cast<int>(lda), stride_a, b, static_cast<int>(ldb),
                            stride_b, beta, c, static_cast<int>(ldc), stride_c,
                            static_cast<int>(batch));
      for (int64_t i = 0; i < batch; ++i) finish(epilogue, i, m, n, c + i * stride_c, ldc);
      return;
    }
  }

  if (m > 1 && n > 1) {
    return builtin::gemm_batched_strided<T>(ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                            stride_b, beta, c, ldc, stride_c, batch, epilogue);
  }

  // Matrices times vectors have kernels of their own.
  const auto grain = static_cast<int64_t>(kThreadedWork / 4 / std::max(1.0, work_of(m, n, k)));
  parallel_for(0, batch, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Epilogue<T> local = epilogue ? *epilogue : Epilogue<T>{};
      if (local.added) local.added += i * local.batch_step;
      gemm<T>(ta, tb, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,
              c + i * stride_c, ldc, epilogue ? &local : nullptr);
    }
  });
}

template <class B>
void gemm_int8(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, const int8_t* a,
               int64_t lda, const B* b, int64_t ldb, int32_t* c, int64_t ldc) {
  if (m > 0 && n > 0) builtin::gemm_int8<B>(ta, tb, m, n, k, a, lda, b, ldb, c, ldc);
}

template <class T>
void gemm_int8_weight(Transpose ta, Transpose tb, int64_t m, int64_t n, int64_t k, const int8_t* a,
                      int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, const T* scale) {
  if (m > 0 && n > 0) builtin::gemm_int8_weight<T>(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, scale);
}

template <class T>
void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a, int64_t lda,
          const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy) {
  if ((is_transposed(transpose) ? n : m) == 0) return;

  lda = leading_dimension(lda, m, n);

  // Vectors of one element may come with any stride, but libraries refuse zero.
  incx = std::max<int64_t>(incx, 1);
  incy = std::max<int64_t>(incy, 1);

  if constexpr (library::serves<T>) {
    // Some libraries return at once for an empty sum, without scaling y.
    if (m > 0 && n > 0 && library_wanted_for_vectors() &&
        prepare_library(4 * work_of(m, n, 1), m, n, lda, incx, incy)) {
      return library::gemv(transpose, static_cast<int>(m), static_cast<int>(n), alpha, a,
                           static_cast<int>(lda), x, static_cast<int>(incx), beta, y,
                           static_cast<int>(incy));
    }
  }

  builtin::gemv<T>(transpose, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

template <class T>
T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy) {
  return any_dot(n, x, incx, y, incy, false);
}
template <class T>
T dot_conjugated(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy) {
  return any_dot(n, x, incx, y, incy, true);
}

template <class T>
bool packs_lanes(int64_t rows, int64_t lanes, int64_t depth, bool along_depth) {
  if constexpr (library::serves<T>) {
    const double work =
        static_cast<double>(rows) * static_cast<double>(lanes) * static_cast<double>(depth);
    if (library_wanted<T>(work)) return false;
  }
  return !builtin::are_few<T>(rows, depth, along_depth);
}
template TORCH_PY_API bool packs_lanes<float>(int64_t, int64_t, int64_t, bool);
template TORCH_PY_API bool packs_lanes<double>(int64_t, int64_t, int64_t, bool);

#define INSTANTIATE(T)                                                                            \
  template TORCH_PY_API void gemm<T>(Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>,   \
                                     const T*, int64_t, const T*, int64_t, Scale<T>, T*, int64_t, \
                                     const Epilogue<T>*);                                         \
  template TORCH_PY_API void gemm_batched_strided<T>(                                             \
      Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>, const T*, int64_t, int64_t,      \
      const T*, int64_t, int64_t, Scale<T>, T*, int64_t, int64_t, int64_t, const Epilogue<T>*);   \
  template TORCH_PY_API void gemv<T>(Transpose, int64_t, int64_t, Scale<T>, const T*, int64_t,    \
                                     const T*, int64_t, Scale<T>, T*, int64_t);                   \
  template TORCH_PY_API T dot<T>(int64_t, const T*, int64_t, const T*, int64_t);                  \
  template TORCH_PY_API T dot_conjugated<T>(int64_t, const T*, int64_t, const T*, int64_t);
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

#define INSTANTIATE(T)                                                                         \
  template TORCH_PY_API void gemm_int8<T>(Transpose, Transpose, int64_t, int64_t, int64_t,     \
                                          const int8_t*, int64_t, const T*, int64_t, int32_t*, \
                                          int64_t);
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                            \
  template TORCH_PY_API void gemm_int8_weight<T>(Transpose, Transpose, int64_t, int64_t, int64_t, \
                                                 const int8_t*, int64_t, const T*, int64_t, T*,   \
                                                 int64_t, const T*);
INSTANTIATE(float)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(c10::Half)
#undef INSTANTIATE

}  // namespace at::blas
