// Checks, shapes and column-major layouts that the operators of linear algebra share.
#include "aten/native/shared/MatrixBatch.h"

#include "aten/native/shared/HostValues.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

namespace at::native {

namespace {

/// The numbers that a factorisation reports, in the memory of the host: the caller waits for them.
Tensor infos_on_host(const Tensor& infos) {
  return (infos.is_cpu() ? infos : at::to(infos, kCPU)).contiguous();
}

}  // namespace

void check_is_matrix(const Tensor& A, const char* name, const char* argument) {
  TORCH_CHECK(A.dim() >= 2, name, ": The input tensor ", argument,
              " must have at least 2 dimensions.");
}

void check_is_square(const Tensor& A, const char* name, const char* argument) {
  check_is_matrix(A, name, argument);
  TORCH_CHECK(A.size(-1) == A.size(-2), name, ": ", argument,
              " must be batches of square matrices, but they are ", A.size(-2), " by ", A.size(-1),
              " matrices");
}

void check_matrix_dtype(const Tensor& A, const char* name, bool low_precision) {
  TORCH_CHECK(A.is_floating_point() || A.is_complex(), name,
              ": Expected a floating point or complex tensor as input. Got ", A.scalar_type());
  TORCH_CHECK(low_precision || !is_reduced_floating(A.scalar_type()), name,
              ": Low precision dtypes not supported. Got ", A.scalar_type());
}

void check_same_device(const char* name, std::initializer_list<const Tensor*> tensors) {
  const Device first = (*tensors.begin())->device();
  for (const Tensor* tensor : tensors) {
    TORCH_CHECK(tensor->device() == first, name,
                ": Expected all tensors to be on the same device, but found ", first, " and ",
                tensor->device());
  }
}

void check_same_matrix_dtype(const Tensor& A, const Tensor& B, const char* name) {
  check_same_device(name, {&A, &B});
  TORCH_CHECK(A.scalar_type() == B.scalar_type(), name,
              ": Expected A and B to have the same dtype, but found A of type ", A.scalar_type(),
              " and B of type ", B.scalar_type(), " instead");
}

void check_lapack(const char* name) {
  TORCH_CHECK(lapack::available(), "Calling ", name,
              " on a CPU tensor requires LAPACK, which this build loads when it is needed: "
              "install it with `pip install scipy-openblas32`");
}

std::string batch_element(const Tensor& infos, int64_t index) {
  return readable(infos).dim() == 0 ? std::string() : c10::str("(Batch element ", index, "): ");
}

int32_t info_at(const Tensor& infos, int64_t index) {
  return infos_on_host(readable(infos)).const_data_ptr<int32_t>()[index];
}

int64_t first_failure(const Tensor& infos) {
  const Tensor given = readable(infos);
  if (given.numel() == 0 || !has_elements(given)) return -1;
  const Tensor values = infos_on_host(given);
  const int32_t* data = values.const_data_ptr<int32_t>();
  const int32_t* found =
      std::find_if(data, data + values.numel(), [](int32_t info) { return info != 0; });
  return found == data + values.numel() ? -1 : found - data;
}

bool is_checked_later(const Tensor& input) { return !can_be_checked(input); }

void check_cholesky_info(const Tensor& info, const char* name) {
  const int64_t failed = first_failure(info);
  TORCH_CHECK_LINALG(failed < 0, name, ": ", batch_element(info, failed),
                     "The factorization could not be completed because the input is not "
                     "positive-definite (the leading minor of order ",
                     info_at(info, failed), " is not positive-definite).");
}

void check_inverse_info(const Tensor& info, const char* name) {
  const int64_t failed = first_failure(info);
  TORCH_CHECK_LINALG(
      failed < 0, name, ": ", batch_element(info, failed), "The diagonal element ",
      info_at(info, failed),
      " is zero, the inversion could not be completed because the input matrix is singular.");
}

void check_solve_info(const Tensor& info, const char* name) {
  const int64_t failed = first_failure(info);
  TORCH_CHECK_LINALG(failed < 0, name, ": ", batch_element(info, failed),
                     "The solver failed because the input matrix is singular.");
}

void check_ldl_info(const Tensor& info, const char* name) {
  const int64_t failed = first_failure(info);
  TORCH_CHECK_LINALG(failed < 0, name, ": ", batch_element(info, failed),
                     "The factorization could not be completed because D[", info_at(info, failed),
                     ",", info_at(info, failed),
                     "] is zero. Using it on ldl_solve would result in a division by zero; "
                     "linalg.ldl_factor_ex gives the factors all the "
                     "same.");
}

DimVector column_major_strides(IntArrayRef sizes) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  DimVector strides(sizes.size());
  const int64_t rows = std::max<int64_t>(sizes[ndim - 2], 1);
  const int64_t columns = std::max<int64_t>(sizes[ndim - 1], 1);

  // Strides count sizes of 0 as 1, as contiguous strides do.
  strides[ndim - 2] = 1;
  strides[ndim - 1] = rows;
  int64_t stride = rows * columns;
  for (int64_t d = ndim - 3; d >= 0; --d) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

TensorSpec column_major_spec(DimVector sizes, ScalarType dtype, Device device) {
  DimVector strides = column_major_strides(sizes);
  return {std::move(sizes), dtype, device, std::move(strides)};
}

DimVector joined_sizes(IntArrayRef batch, std::initializer_list<int64_t> rest) {
  DimVector sizes(batch);
  for (const int64_t size : rest) sizes.push_back(size);
  return sizes;
}

Tensor column_major_copy(const Tensor& tensor) {
  const Tensor copy = empty_strided_tensor(tensor.sizes(), column_major_strides(tensor.sizes()),
                                           tensor.scalar_type(), tensor.device());
  at::copy_(copy, tensor);
  return copy;
}

Tensor as_column_major(const Tensor& tensor) {
  const DimVector wanted = column_major_strides(tensor.sizes());
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] > 1 && tensor.strides()[d] != wanted[d]) return column_major_copy(tensor);
  }
  return tensor;
}

bool is_vector_for(const Tensor& A, const Tensor& B) {
  if (B.dim() == 1) return true;
  return A.dim() - 1 == B.dim() && B.sizes() == A.sizes().slice(0, A.dim() - 1);
}

}  // namespace at::native
