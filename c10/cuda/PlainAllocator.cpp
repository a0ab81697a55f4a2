// Memory straight from CUDA: each block is a call of the driver, and freeing one waits.
#include "c10/cuda/PlainAllocator.h"

#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// Frees what may still be used by work in any stream.
void free_device_block(void* block) {
  C10_CUDA_IGNORE(cudaDeviceSynchronize());
  C10_CUDA_IGNORE(cudaFree(block));
}

void free_pinned_block(void* block) {
  C10_CUDA_IGNORE(cudaDeviceSynchronize());
  C10_CUDA_IGNORE(cudaFreeHost(block));
}

struct PlainAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex index) override {
    const DeviceIndex device = index >= 0 ? index : current_device();
    const Device owner(DeviceType::CUDA, device);
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, owner);

    const SelectedDevice guard(device);
    void* block = nullptr;
    const cudaError_t status = cudaMalloc(&block, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemoryError("CUDA out of memory. Tried to allocate " + std::to_string(bytes) +
                             " bytes on " + owner.str());
    }
    C10_CUDA_CHECK(status);
    return DataPtr(block, block, &free_device_block, owner);
  }
};

struct PlainPinnedAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, kCPU);
    void* block = nullptr;
    C10_CUDA_CHECK(cudaHostAlloc(&block, bytes, cudaHostAllocPortable));
    return DataPtr(block, block, &free_pinned_block, kCPU);
  }
};

}  // namespace

Allocator& plain_allocator() {
  static PlainAllocator& only = *new PlainAllocator;
  return only;
}

Allocator& plain_pinned_allocator() {
  static PlainPinnedAllocator& only = *new PlainPinnedAllocator;
  return only;
}

}  // namespace c10::cuda
