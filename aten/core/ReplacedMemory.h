// Memory that a kernel takes away from a storage.
#pragma once
#include "c10/core/Storage.h"
#include "c10/util/Export.h"

namespace at {

/// Receives memory that a tensor or a storage had until now, because other threads may still read
/// it. Without a handler it is freed.
using ReplacedMemoryHandler = void (*)(const c10::Storage& memory);
TORCH_PY_API void set_replaced_memory_handler(ReplacedMemoryHandler handler);

void release_replaced_storage(const c10::Storage& storage);
void release_replaced_memory(c10::DataPtr memory);

}  // namespace at
