// The dispatch key of function transforms.
#pragma once
#include <memory>

#include "aten/core/Value.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::transforms {

/// Makes the calls of wrapped tensors reach the rules of their level; `forward_mode` handles those
/// whose highest level is a Dual's. Called once, before a tensor is wrapped.
TORCH_PY_API void install(const BoxedKernel* forward_mode);

/// A kernel for the Transform key of one operator, which has a `rule` of its own for batches: it
/// handles calls whose highest level is that of a vmap.
TORCH_PY_API std::shared_ptr<const BoxedKernel>
with_batch_rule(std::shared_ptr<const BoxedKernel> rule);

}  // namespace at::transforms
