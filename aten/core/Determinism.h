// Whether programs ask for deterministic algorithms: torch.use_deterministic_algorithms.
#pragma once
#include "c10/util/Export.h"

namespace at {

/// Bits then depend neither on measurements, as those of products do, nor on the order in which
/// threads of a device add.
TORCH_PY_API bool deterministic_algorithms();
TORCH_PY_API void set_deterministic_algorithms(bool wanted);

}  // namespace at
