#pragma once
// What the kernels of fused optimizers check before they walk through memory.
#include <initializer_list>

#include "aten/core/Tensor.h"

namespace at::native {

/// Loops access all tensors of a parameter at one offset, so their memory must be laid out alike.
/// The callers' copies ensure that.
TORCH_PY_API void check_optimizer_lists(const char* op, TensorList self,
                                        std::initializer_list<TensorList> lists);

}  // namespace at::native
