#pragma once
#include "aten/core/Tensor.h"
#include "c10/util/Export.h"

namespace at {

/// Whether memory that a program sees before anything was written to it is filled: NaN, the largest
/// integer or true. Off at first.
TORCH_PY_API void set_fill_uninitialized(bool enabled);
TORCH_PY_API bool fills_uninitialized();
/// `tensor`, filled when that is on.
Tensor fill_if_wanted(Tensor tensor);

}  // namespace at
