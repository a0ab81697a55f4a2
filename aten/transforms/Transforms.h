// The dispatch key of function transforms.
#pragma once
#include "aten/core/Value.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::transforms {

/// Makes the calls of wrapped tensors reach the rules of their level; `forward_mode` handles those
/// whose highest level is a Dual's. Called once, before a tensor is wrapped.
TORCH_PY_API void install(const BoxedKernel* forward_mode);

}  // namespace at::transforms
