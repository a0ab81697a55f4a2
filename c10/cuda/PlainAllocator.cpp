// Memory straight from CUDA: each block is a call of the driver, and freeing one waits for the
// device.
#include "c10/cuda/PlainAllocator.h"

#include <cstdlib>
#include <string_view>

#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// What a block's DataPtr owns.
struct PlainBlock {
  void* data;
  DeviceIndex device;
};

void free_device_block(void* context) {
  auto* const block = static_cast<PlainBlock*>(context);
  const SelectedDevice guard(block->device);
  // Work of any stream may still use it.
  C10_CUDA_IGNORE(cudaDeviceSynchronize());
  C10_CUDA_IGNORE(cudaFree(block->data));
  delete block;
}

void free_pinned_block(void* data) {
  for (int device = 0; device < device_count(); ++device) {
    const SelectedDevice guard(static_cast<DeviceIndex>(device));
    C10_CUDA_IGNORE(cudaDeviceSynchronize());
  }
  C10_CUDA_IGNORE(cudaFreeHost(data));
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
    return DataPtr(data, new PlainBlock{data, device}, &free_device_block, owner);
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

bool caches_memory() {
#ifdef TORCH_PY_EXACT_BLOCKS
  return false;
#else
  static const bool chosen = [] {
    const char* const text = std::getenv("TORCH_PY_CUDA_CACHING");
    return text == nullptr || std::string_view(text) != "0";
  }();
  return chosen;
#endif
}

Allocator& plain_allocator() {
  static PlainAllocator& only = *new PlainAllocator;
  return only;
}

Allocator& plain_pinned_allocator() {
  static PlainPinnedAllocator& only = *new PlainPinnedAllocator;
  return only;
}

}  // namespace c10::cuda
