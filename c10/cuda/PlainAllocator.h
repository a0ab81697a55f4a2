// PlainAllocator: memory straight from CUDA, until a caching allocator takes its place.
#pragma once
#include "c10/core/Allocator.h"

namespace c10::cuda {

Allocator& plain_allocator();
Allocator& plain_pinned_allocator();

}  // namespace c10::cuda
