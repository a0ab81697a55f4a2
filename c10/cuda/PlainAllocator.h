// PlainAllocator: memory straight from CUDA, for tools that watch single blocks.
#pragma once
#include "c10/core/Allocator.h"

namespace c10::cuda {

/// False where TORCH_PY_CUDA_CACHING=0, and in builds with sanitizers: every block then comes from
/// the driver and goes back to it, so that accesses beyond its end and after its life are seen.
bool caches_memory();

Allocator& plain_allocator();
Allocator& plain_pinned_allocator();

}  // namespace c10::cuda
