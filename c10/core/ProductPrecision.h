// How exactly devices may multiply matrices of float32.
#pragma once
#include "c10/util/Export.h"

namespace c10 {

/// Whether float32 operands of products may be rounded to TF32, which has ten bits of mantissa, on
/// devices that are faster with it.
TORCH_PY_API bool tf32_allowed();
TORCH_PY_API void allow_tf32(bool allowed);

}  // namespace c10
