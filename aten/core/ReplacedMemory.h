// Memory that a kernel takes away from a storage.
#pragma once
#include "c10/core/Allocator.h"
#include "c10/util/Export.h"

namespace at {

/// Receives the earlier memory of a storage that was resized, because other threads may still read
/// it. Without a handler it is freed.
using ReplacedMemoryHandler = void (*)(c10::DataPtr memory);
TORCH_PY_API void set_replaced_memory_handler(ReplacedMemoryHandler handler);
void release_replaced_memory(c10::DataPtr memory);

}  // namespace at
