#pragma once
// What the kernels of fused optimizers check before they walk through memory.
#include <initializer_list>

#include "aten/core/Tensor.h"

namespace at::native {

/// Loops access all tensors of a parameter at one offset, so their memory must be laid out alike.
/// The callers' copies ensure that.
TORCH_PY_API void check_optimizer_lists(const char* op, TensorList self,
                                        std::initializer_list<TensorList> lists);

/// Loops read these tensors as numbers: each that is defined must have one element.
TORCH_PY_API void check_single_elements(const char* op, std::initializer_list<TensorList> lists);
/// Loops walk through the memory of these tensors, which must have no gaps.
TORCH_PY_API void check_dense(const char* op, TensorList tensors);

}  // namespace at::native
