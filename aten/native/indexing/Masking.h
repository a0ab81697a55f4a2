#pragma once
// Filling by a mask, which masked_fill_ and index_fill_ share.
#include "aten/core/Tensor.h"

namespace at::native {

/// Writes `value` where `mask` is True. Elements of an expanded tensor that share memory are filled
/// when the mask is True for any of them.
void fill_masked(const char* op, const Tensor& self, const Tensor& mask, const Scalar& value);

}  // namespace at::native
