#pragma once
#include "aten/core/Tensor.h"

namespace at::native {

/// Writes `value` where `mask` is True. Elements of an expanded tensor that share memory are filled
/// when the mask of any of them says so.
void fill_masked(const char* op, const Tensor& self, const Tensor& mask, const Scalar& value);

}  // namespace at::native
