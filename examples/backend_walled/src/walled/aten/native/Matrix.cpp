// Products of matrices.
#include "Memory.h"
#include "Sums.h"
#include "aten/Dispatch.h"

namespace at::native::walled {

namespace {

/// out = alpha * left @ right + beta * added, where `added` broadcasts to `out`; it may be null.
template <class T>
void product(const Tensor& left, const Tensor& right, const Tensor* added, T beta, T alpha,
             const Tensor& out) {
  const T* const a = elements<T>(left);
  const T* const b = elements<T>(right);
  T* const c = elements<T>(out);
  const T* const d = added == nullptr ? nullptr : elements<T>(*added);

  // The strides of `added` along rows and columns; 0 where it repeats.
  const int64_t rank = added == nullptr ? 0 : added->dim();
  const auto stride = [&](int64_t dim) {
    return dim < 0 || added->size(dim) == 1 ? int64_t{0} : added->stride(dim);
  };
  const int64_t added_row = rank == 0 ? 0 : stride(rank - 2);
  const int64_t added_column = rank == 0 ? 0 : stride(rank - 1);

  for (int64_t i = 0; i < out.size(0); ++i) {
    for (int64_t j = 0; j < out.size(1); ++j) {
      sum_t<T> sum = 0;
      for (int64_t k = 0; k < left.size(1); ++k) {
        sum += static_cast<sum_t<T>>(a[i * left.stride(0) + k * left.stride(1)]) *
               static_cast<sum_t<T>>(b[k * right.stride(0) + j * right.stride(1)]);
      }

      T result = alpha * static_cast<T>(sum);
      if (d != nullptr && beta != T(0)) result += beta * d[i * added_row + j * added_column];
      c[i * out.stride(0) + j * out.stride(1)] = result;
    }
  }
}

}  // namespace

void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out0) {
  AT_DISPATCH_ALL(out0.scalar_type(), "mm",
                  [&] { product<scalar_t>(self, mat2, nullptr, scalar_t(0), scalar_t(1), out0); });
}

void addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                  const Scalar& alpha, const Tensor& out0) {
  AT_DISPATCH_ALL(out0.scalar_type(), "addmm", [&] {
    product<scalar_t>(mat1, mat2, &self, beta.to<scalar_t>(), alpha.to<scalar_t>(), out0);
  });
}

}  // namespace at::native::walled
