// Stream: pools of CUDA streams and the current ones of each thread.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "c10/core/Stream.h"

namespace c10::cuda {

// Note [Streams]
// Stream 0 of a device is CUDA's legacy stream, which waits for no stream made here: those are
// created non-blocking. `c10::Stream::id` is 0 for it, a small number for a stream of the pool, and
// the handle itself for a stream that somebody else made.

/// The next stream of the device's pool for this priority; each of them is handed out again after
/// 32 others.
Stream pool_stream(DeviceIndex device, int priority);
/// A stream that somebody else made and keeps alive.
Stream external_stream(DeviceIndex device, cudaStream_t handle);
Stream default_stream(DeviceIndex device);

Stream current_stream_of(DeviceIndex device);
/// Makes a stream the current one of its device, for this thread; returns the one before.
Stream exchange_stream(Stream stream);

cudaStream_t native(Stream stream);
int priority_of(Stream stream);
/// The lowest and the highest priority.
std::pair<int, int> priority_range();

}  // namespace c10::cuda
