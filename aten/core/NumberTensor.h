// 0-dim CPU tensors for the numbers of a call, used again from call to call.
#pragma once

#include "aten/core/Tensor.h"

namespace at {

/// A new 0-dim CPU tensor marked as a number; its element is not set yet.
TORCH_PY_API Tensor number_tensor(ScalarType dtype);

}  // namespace at
