// Filling memory that a program sees before anything was written to it.
#pragma once
#include "aten/core/Tensor.h"
#include "c10/util/Export.h"

namespace at {

/// Whether uninitialised memory is filled: with NaN, the largest integer or true. Off by default.
TORCH_PY_API void set_fill_uninitialized(bool enabled);
TORCH_PY_API bool fills_uninitialized();
/// `tensor`, filled if that is on.
Tensor fill_if_wanted(Tensor tensor);

}  // namespace at
