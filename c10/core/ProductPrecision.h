// How exactly devices may multiply matrices of float32.
#pragma once
#include "c10/util/Export.h"

namespace c10 {

/// What float32 operands may be rounded to TF32 for, which has ten bits of mantissa.
enum class Tf32Use { Products, Convolutions };

/// Whether devices that are faster with TF32 may use it. At first, as in PyTorch, for convolutions
/// only.
TORCH_PY_API bool tf32_allowed(Tf32Use use);
TORCH_PY_API void allow_tf32(Tf32Use use, bool allowed);

}  // namespace c10
