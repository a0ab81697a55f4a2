// Sharing: device memory that another process of the machine opens.
#pragma once

#include "c10/core/DeviceHooks.h"

namespace c10::cuda {

// Note [Shared device memory]
// A segment of cudaMalloc is shared by CUDA's own handle. Granules are exported as file
// descriptors, which the other process takes out of ours by their numbers (pidfd_getfd): nothing
// has to be sent but text. A descriptor keeps its granule's memory, so the allocator says when it
// gives a granule up. Memory that is opened twice is mapped once.

/// Opens the memory that `data` owns to other processes; see DeviceHooks.
SharedBlock share_memory(const DataPtr& data, size_t bytes);
/// Memory of another process; the work of all streams that use it is waited for when it is closed.
DataPtr open_memory(DeviceIndex device, const SharedBlock& block);
/// To be called before a granule is given back to the driver.
void forget_shared_granule(uint64_t granule) noexcept;

}  // namespace c10::cuda
