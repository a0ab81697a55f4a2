// Matrix products and dot products behind one interface.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "c10/util/BFloat16.h"
#include "c10/util/Export.h"
#include "c10/util/Half.h"
#include "c10/util/complex.h"

// They are in a shared object of their own (libtorch_py_blas.so): MKL takes long to link and
// changes rarely. Matrices are column-major: element (i, j) of A is a[i + j * lda]. Nothing here
// checks arguments; callers do. The element types are float, double, complex<float>,
// complex<double>, BFloat16, Half, uint8_t, int8_t, int16_t, int32_t and int64_t.

namespace at::blas {

enum class Transpose : char { None = 'N', Transpose = 'T', Conjugate = 'C' };

/// The type of alpha and beta, in which reduced floats are also summed. Integers wrap around.
template <class T>
using Scale = std::conditional_t<c10::is_reduced_floating_point_v<T>, float, T>;

/// What is done to C while it is in the cache: rows are scaled, something is added, and a function
/// is applied.
template <class T>
struct Epilogue {
  const T* scale = nullptr;  // a factor for each row of C

  // Added to C times `factor`: element (i, j) is at added[i * row_step + j * column_step], so that
  // steps of 0 broadcast. In a batch, matrices are batch_step apart.
  const T* added = nullptr;
  int64_t row_step = 0;
  int64_t column_step = 0;
  int64_t batch_step = 0;
  Scale<T> factor = Scale<T>(1);

  // Changes `count` elements in the type in which they are summed.
  void (*activation)(Scale<T>* elements, int64_t count) = nullptr;
};

/// C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) k x n and C m x n, and then the
/// epilogue, if there is one. With beta = 0, C is not read, and with alpha = 0 A and B are not.
template <class T>
TORCH_PY_API void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                       int64_t k, Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                       Scale<T> beta, T* c, int64_t ldc, const Epilogue<T>* epilogue = nullptr);

/// The same for `batch` products. Their matrices lie stride_a, stride_b and stride_c elements
/// apart; a stride of 0 for A or B uses the same matrix for all.
template <class T>
TORCH_PY_API void
gemm_batched_strided(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
                     Scale<T> alpha, const T* a, int64_t lda, int64_t stride_a, const T* b,
                     int64_t ldb, int64_t stride_b, Scale<T> beta, T* c, int64_t ldc,
                     int64_t stride_c, int64_t batch, const Epilogue<T>* epilogue = nullptr);

/// C = op(A) op(B) for bytes, summed in 32 bits that wrap around. B has uint8_t or int8_t.
template <class B>
TORCH_PY_API void gemm_int8(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                            int64_t k, const int8_t* a, int64_t lda, const B* b, int64_t ldb,
                            int32_t* c, int64_t ldc);

/// C = (op(A) op(B)) with each row of C scaled, for bytes times floats of type T.
template <class T>
TORCH_PY_API void gemm_int8_weight(Transpose transpose_a, Transpose transpose_b, int64_t m,
                                   int64_t n, int64_t k, const int8_t* a, int64_t lda, const T* b,
                                   int64_t ldb, T* c, int64_t ldc, const T* scale);

/// Whether gemm() would pack the lanes of a product itself: it leaves it neither to the library nor
/// to dot products. `along_depth`: the elements of a lane are next to each other.
template <class T>
TORCH_PY_API bool packs_lanes(int64_t rows, int64_t lanes, int64_t depth, bool along_depth);

/// y = alpha op(A) x + beta y for an m x n matrix A. Increments are positive.
template <class T>
TORCH_PY_API void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a,
                       int64_t lda, const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy);

/// The sum of x[i] y[i]; dot_conjugated takes conj(x[i]).
template <class T>
TORCH_PY_API T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy);
template <class T>
TORCH_PY_API T dot_conjugated(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy);

/// The library of this build, "mkl" or "openblas", or "builtin" without one and if it is switched
/// off. TORCH_PY_BLAS_BACKEND in the environment chooses who multiplies matrices: the library's
/// name or "own"; with "builtin", or use_builtin(true), everything is our own. Otherwise
/// measurements do.
TORCH_PY_API const char* backend_name();
TORCH_PY_API void use_builtin(bool builtin);

/// With deterministic algorithms, products are our own: their bits then do not depend on what was
/// measured.
TORCH_PY_API void set_deterministic(bool deterministic);

/// Who multiplies large matrices of a type, and the billions of operations per second that both
/// reached on one thread.
struct Choice {
  const char* type;
  const char* backend;
  const char* reason;
  double own;
  double library;
};
/// Measures what has not been measured. Not for parallel regions.
TORCH_PY_API std::array<Choice, 4> choices();

/// What this library needs from the layer above. aten/parallel/BlasThreads.cpp sets it; until then
/// everything runs on one thread.
struct Runtime {
  /// The number of threads that a call may use now: 1 inside a parallel region.
  int (*threads)();
  void (*parallel_for)(int64_t begin, int64_t end, int64_t grain_size, const void* function,
                       void (*call)(const void* function, int64_t begin, int64_t end));
  bool (*in_parallel_region)();
  int capability;            // a c10::CpuCapability, for our own kernels
  bool multiplies_bfloat16;  // whether the processor has AVX512_BF16
  bool multiplies_bytes;     // and AVX512_VNNI
};
TORCH_PY_API void set_runtime(const Runtime& runtime);

}  // namespace at::blas
