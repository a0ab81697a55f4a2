// The caching allocator of CUDA devices; Memory.h declares what the rest of the backend asks of it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "c10/core/Allocator.h"
#include "c10/core/Stream.h"
#include "c10/cuda/allocator/Heap.h"

namespace c10::cuda {

/// The heap of a device, made when first asked for.
Heap& heap_of(DeviceIndex device);

/// Called when a device has no memory left, before the last attempt: libraries give workspaces up.
void add_memory_pressure_callback(DeviceIndex device, std::function<void()> callback);

/// Around a wait of the host for all work of a stream: what `before_synchronize` returns goes to
/// `after_synchronize`. Saves later waits on the device.
std::optional<uint64_t> before_synchronize(Stream stream);
void after_synchronize(Stream stream, std::optional<uint64_t> mark);
/// To be called before an external stream that was current here is destroyed.
void forget_stream(Stream stream);

}  // namespace c10::cuda
