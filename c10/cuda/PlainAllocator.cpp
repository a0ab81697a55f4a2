// Memory straight from CUDA, until a caching allocator takes its place: each block is a call of the
// driver, and freeing one waits for the device.
#include <array>
#include <atomic>

#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// Counts of one device.
struct Counts {
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> peak{0};
  std::atomic<int64_t> allocated{0};  // bytes, since the beginning
};

Counts& counts_of(DeviceIndex device) {
  static std::array<Counts, 128> all;
  return all[static_cast<size_t>(device)];
}

/// What a block's DataPtr owns.
struct PlainBlock {
  void* data;
  size_t bytes;
  DeviceIndex device;
};

void free_device_block(void* context) {
  auto* const block = static_cast<PlainBlock*>(context);
  const SelectedDevice guard(block->device);
  // Work of any stream may still use it.
  C10_CUDA_IGNORE(cudaDeviceSynchronize());
  C10_CUDA_IGNORE(cudaFree(block->data));
  counts_of(block->device).bytes -= static_cast<int64_t>(block->bytes);
  delete block;
}

void free_pinned_block(void* data) {
  for (int device = 0; device < device_count(); ++device) {
    const SelectedDevice guard(static_cast<DeviceIndex>(device));
    C10_CUDA_IGNORE(cudaDeviceSynchronize());
  }
  C10_CUDA_IGNORE(cudaFreeHost(data));
}

void count(DeviceIndex device, size_t bytes) {
  Counts& counts = counts_of(device);
  const int64_t now = counts.bytes += static_cast<int64_t>(bytes);
  counts.allocated += static_cast<int64_t>(bytes);

  int64_t peak = counts.peak;
  while (peak < now && !counts.peak.compare_exchange_weak(peak, now)) {
  }
}

struct PlainAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex index) override {
    const DeviceIndex device = index >= 0 ? index : current_device();
    const Device owner(DeviceType::CUDA, device);
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, owner);

    const SelectedDevice guard(device);
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemoryError("CUDA out of memory. Tried to allocate " + std::to_string(bytes) +
                             " bytes on " + owner.str());
    }
    C10_CUDA_CHECK(status);

    count(device, bytes);
    return DataPtr(data, new PlainBlock{data, bytes, device}, &free_device_block, owner);
  }
};

struct PlainPinnedAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, kCPU);
    void* data = nullptr;
    C10_CUDA_CHECK(cudaHostAlloc(&data, bytes, cudaHostAllocPortable));
    return DataPtr(data, data, &free_pinned_block, kCPU);
  }
};

}  // namespace

Allocator& device_allocator() {
  static PlainAllocator& only = *new PlainAllocator;
  return only;
}

Allocator& pinned_allocator() {
  static PlainPinnedAllocator& only = *new PlainPinnedAllocator;
  return only;
}

// Freeing a block waits for all streams: nobody has to be told who uses it.
void record_stream(const DataPtr&, Stream) {}
bool record_pinned(const void*, cudaStream_t) { return true; }

MemoryPoolId new_memory_pool() {
  static std::atomic<int64_t> pools{0};
  return {0, ++pools};
}

// Memory cannot be allocated while a graph is captured; nothing is ever reused.
void begin_allocating_from_pool(DeviceIndex, MemoryPoolId, cudaStream_t) {}
void end_allocating_from_pool(DeviceIndex, MemoryPoolId) {}
void release_pool(DeviceIndex, MemoryPoolId) {}

Segment segment_of(const void* data, size_t bytes) { return {const_cast<void*>(data), bytes, {}}; }

std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex device) {
  const Counts& counts = counts_of(device);
  return {{"allocated_bytes.all.current", counts.bytes},
          {"allocated_bytes.all.peak", counts.peak},
          {"allocated_bytes.all.allocated", counts.allocated},
          {"allocated_bytes.all.freed", counts.allocated - counts.bytes}};
}

std::string memory_snapshot() { return "[]"; }
void empty_cache() {}
void reset_peak_memory_stats(DeviceIndex device) {
  counts_of(device).peak = counts_of(device).bytes.load();
}
void reset_accumulated_memory_stats(DeviceIndex device) {
  counts_of(device).allocated = counts_of(device).bytes.load();
}

void set_memory_fraction(DeviceIndex, double) {
  TORCH_THROW(NotImplementedError, "memory straight from CUDA has no limit");
}
double memory_fraction(DeviceIndex) { return 1.0; }

}  // namespace c10::cuda
