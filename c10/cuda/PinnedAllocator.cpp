// Pinned host memory: the pool on CUDA's functions.
#include "c10/cuda/PinnedAllocator.h"

#include <mutex>
#include <unordered_map>

#include "c10/cuda/Memory.h"
#include "c10/cuda/PlainAllocator.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/allocator/CaptureScope.h"
#include "c10/cuda/allocator/PinnedPool.h"

namespace c10::cuda {

namespace {

class CudaPinnedSource final : public PinnedSource {
 public:
  void* allocate(size_t bytes) override {
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return nullptr;
    }
    C10_CUDA_CHECK(status);
    return memory;
  }

  void free(void* memory) noexcept override {
    const RelaxedCapture relaxed;
    C10_CUDA_IGNORE(cudaFreeHost(memory));
  }

  void* record(void* stream) override {
    const auto native = static_cast<cudaStream_t>(stream);
    if (is_capturing_now(native)) return nullptr;

    // Events belong to a device, like the stream.
    const DeviceIndex device = current_device();
    auto& unused = unused_[device];
    cudaEvent_t event = nullptr;
    if (unused.empty()) {
      C10_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      device_of_[event] = device;
    } else {
      event = unused.back();
      unused.pop_back();
    }

    C10_CUDA_CHECK(cudaEventRecord(event, native));
    return event;
  }

  bool is_over(void* event) noexcept override {
    const RelaxedCapture relaxed;
    const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (status != cudaSuccess) cudaGetLastError();
    return status == cudaSuccess;
  }

  void synchronize(void* event) noexcept override {
    const RelaxedCapture relaxed;
    C10_CUDA_IGNORE(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
  }

  void give_event(void* event) noexcept override {
    const auto native = static_cast<cudaEvent_t>(event);
    unused_[device_of_[native]].push_back(native);
  }

 private:
  std::unordered_map<DeviceIndex, std::vector<cudaEvent_t>> unused_;
  std::unordered_map<cudaEvent_t, DeviceIndex> device_of_;
};

// Never destroyed: blocks are also freed after static destructors have run.
PinnedPool& pool() {
  static PinnedPool& only = *new PinnedPool(*new CudaPinnedSource);
  return only;
}

void free_block(void* context) { pool().free(static_cast<PinnedBlock*>(context)); }

struct PinnedAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex) override {
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, kCPU);
    PinnedBlock* const block = pool().allocate(bytes);
    return DataPtr(block->address, block, &free_block, kCPU);
  }
};

}  // namespace

Allocator& pinned_allocator() {
  if (!caches_memory()) return plain_pinned_allocator();
  static PinnedAllocator& only = *new PinnedAllocator;
  return only;
}

bool record_pinned(const void* data, cudaStream_t stream) { return pool().note_use(data, stream); }

void empty_pinned_cache() { pool().empty_cache(); }
std::vector<std::pair<std::string, int64_t>> pinned_memory_stats() { return pool().statistics(); }
void reset_peak_pinned_memory_stats() { pool().reset_peaks(); }
void reset_accumulated_pinned_memory_stats() { pool().reset_accumulated(); }

}  // namespace c10::cuda
