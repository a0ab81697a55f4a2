#pragma once
// Helpers for the shape rules and factors of matrix and vector products.
#include "aten/core/Tensor.h"
#include "aten/native/shared/SizeProduct.h"

namespace at::native {

inline void check_same_device(const char* op, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.device() == b.device(), op,
              ": Expected all tensors to be on the same device, but found at least two devices, ",
              a.device(), " and ", b.device(), "!");
}

/// The factor of a product in this dtype: without its fraction for integers, true or false for
/// bool.
inline Scalar factor_in(const Scalar& factor, ScalarType dtype) {
  if (dtype == kBool) return Scalar(factor.to<bool>());
  return is_integral(dtype, true) ? Scalar(factor.to<int64_t>()) : factor;
}

}  // namespace at::native
