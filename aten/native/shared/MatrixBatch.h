#pragma once
// Shared by the operators of linear algebra: checks of arguments with PyTorch's messages,
// column-major results, and loops over the matrices of a batch.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "aten/blas/Lapack.h"
#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

// Checks

/// Checks that A has at least two dimensions ("linalg.inv: The input tensor A must have at least 2
/// dimensions.").
void check_is_matrix(const Tensor& A, const char* name, const char* argument = "A");

/// The same, and that the last two sizes are equal.
void check_is_square(const Tensor& A, const char* name, const char* argument = "A");

/// Checks that the dtype is complex or floating point, of at least single precision unless
/// `low_precision`.
void check_matrix_dtype(const Tensor& A, const char* name, bool low_precision = false);
void check_same_device(const char* name, std::initializer_list<const Tensor*> tensors);
void check_same_matrix_dtype(const Tensor& A, const Tensor& B, const char* name);

/// Checks that this build has LAPACK.
void check_lapack(const char* name);

/// "(Batch element 2): ", which starts the message of an error in one matrix of a batch.
std::string batch_element(const Tensor& infos, int64_t index);

/// The index of the first element that is not zero, or -1. Waits for the device of `infos`.
int64_t first_failure(const Tensor& infos);

/// Element `index` of `infos`, which may be on any device.
int32_t info_at(const Tensor& infos, int64_t index);

/// Throw if a factorisation or a solver reports a failure in `info`.
/// Whether a factorization itself has to check what it finds, as `info` has no elements yet: the
/// call is recorded, and made later.
bool is_checked_later(const Tensor& input);
void check_cholesky_info(const Tensor& info, const char* name);
void check_inverse_info(const Tensor& info, const char* name);
void check_solve_info(const Tensor& info, const char* name);
void check_ldl_info(const Tensor& info, const char* name);

// Shapes

/// The strides of a batch of column-major matrices that follow one another in memory.
DimVector column_major_strides(IntArrayRef sizes);
TensorSpec column_major_spec(DimVector sizes, ScalarType dtype, Device device);
inline TensorSpec column_major_spec(DimVector sizes, const Tensor& like) {
  return column_major_spec(std::move(sizes), like.scalar_type(), like.device());
}

/// The sizes of all dimensions but the last `count`.
inline IntArrayRef batch_sizes(const Tensor& tensor, int64_t count = 2) {
  TORCH_CHECK(tensor.dim() >= count, "expected a tensor of at least ", count,
              " dimensions, got one of shape ", tensor.sizes());
  return tensor.sizes().slice(0, tensor.dim() - count);
}

/// The sizes `batch` followed by `rest`.
TORCH_PY_API DimVector joined_sizes(IntArrayRef batch, std::initializer_list<int64_t> rest);

/// Contiguous column-major matrices with the values of `tensor`, never `tensor` itself.
Tensor column_major_copy(const Tensor& tensor);

/// `tensor` itself if it has that layout, otherwise a column-major copy.
Tensor as_column_major(const Tensor& tensor);

/// Whether the right-hand side B of a system with A is a vector or a batch of vectors.
bool is_vector_for(const Tensor& A, const Tensor& B);

// Loops

/// Calls f.template operator()<T>() for the element type T.
template <class Function>
void for_matrix_type(ScalarType dtype, const char* name, const Function& f) {
  switch (dtype) {
    case kFloat: return f.template operator()<float>();
    case kDouble: return f.template operator()<double>();
    case kComplexFloat: return f.template operator()<c10::complex<float>>();
    case kComplexDouble: return f.template operator()<c10::complex<double>>();
    default:
      TORCH_THROW(NotImplementedError, '"', name, "\" not implemented for '",
                  scalar_type_name(dtype), "'");
  }
}

inline int64_t matrix_count(const Tensor& tensor, int64_t matrix_dims = 2) {
  int64_t count = 1;
  for (const int64_t size : batch_sizes(tensor, matrix_dims)) count *= size;
  return count;
}

/// The matrices (or vectors) of a contiguous batch, by index.
template <class T>
struct Batch {
  Batch(const Tensor& tensor, int64_t matrix_dims)
      : data(tensor.numel() == 0 ? nullptr : tensor.data_ptr<T>()) {
    for (int64_t d = tensor.dim() - matrix_dims; d < tensor.dim(); ++d) stride *= tensor.sizes()[d];
  }

  T* operator[](int64_t index) const { return data ? data + index * stride : nullptr; }

  T* data;
  int64_t stride = 1;
};

template <class T>
Batch<T> matrices_of(const Tensor& tensor) {
  return Batch<T>(tensor, 2);
}
template <class T>
Batch<T> vectors_of(const Tensor& tensor) {
  return Batch<T>(tensor, 1);
}
template <class T>
Batch<T> scalars_of(const Tensor& tensor) {
  return Batch<T>(tensor, 0);
}

/// Calls f(i) for every matrix: in parallel if there are enough of them, otherwise one after
/// another with LAPACK's own threads.
template <class Function>
void for_each_matrix(int64_t count, double multiplications, const Function& f) {
  const auto range = [&f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  };
  if (count < get_num_threads()) return range(0, count);

  // Each task takes about 20 µs or more.
  const double grain = 65536.0 / std::max(1.0, multiplications);
  parallel_for(0, count, std::max<int64_t>(1, static_cast<int64_t>(std::min(grain, 1e9))), range);
}

/// Whether all values are finite; with nan or infinity some algorithms do not terminate.
template <class T>
bool is_finite(const T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (c10::is_complex_v<T>) {
      if (!std::isfinite(values[i].real()) || !std::isfinite(values[i].imag())) return false;
    } else if (!std::isfinite(values[i])) {
      return false;
    }
  }
  return true;
}

/// n^3, the order of the multiplications that a factorisation takes.
inline double cube(int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

}  // namespace at::native
