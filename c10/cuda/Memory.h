// Memory: what the rest of the backend asks of its allocators.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c10/core/Allocator.h"
#include "c10/core/DeviceGraph.h"
#include "c10/core/Stream.h"

namespace c10::cuda {

Allocator& device_allocator();
Allocator& pinned_allocator();
/// Says that `stream` uses the memory that `data` owns.
void record_stream(const DataPtr& data, Stream stream);
/// Tells the pinned allocator that work in `stream` reads or writes the block that holds `data`;
/// false where the block is not its own.
bool record_pinned(const void* data, cudaStream_t stream);

// --- Graphs: see Graph.h ---

MemoryPoolId new_memory_pool();
/// From now on, what is allocated while work is put into `stream` comes from the pool, which
/// gets one more user; until end_allocating_from_pool.
void begin_allocating_from_pool(DeviceIndex device, MemoryPoolId pool, cudaStream_t stream);
void end_allocating_from_pool(DeviceIndex device, MemoryPoolId pool);
/// Ends one use of the pool; after the last, its memory can be given back.
void release_pool(DeviceIndex device, MemoryPoolId pool);

// --- Other processes: see Sharing.h ---

/// Where a block lies in memory that came from the driver.
struct Segment {
  void* begin = nullptr;
  size_t bytes = 0;
  /// The physical memory, 2 MiB each from `begin` on; empty for a segment of cudaMalloc.
  std::vector<uint64_t> granules;
};
/// The driver's memory that holds [data, data + bytes).
Segment segment_of(const void* data, size_t bytes);

// --- Statistics: see DeviceHooks ---

std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex device);
std::string memory_snapshot();
void empty_cache();
void reset_peak_memory_stats(DeviceIndex device);
void reset_accumulated_memory_stats(DeviceIndex device);
void set_memory_fraction(DeviceIndex device, double fraction);
double memory_fraction(DeviceIndex device);

}  // namespace c10::cuda
