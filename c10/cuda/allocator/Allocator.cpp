// The heaps of all devices on CUDA's events and streams, behind c10::Allocator and Memory.h.
#include "c10/cuda/allocator/Allocator.h"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "c10/cuda/Memory.h"
#include "c10/cuda/PlainAllocator.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/cuda/allocator/CaptureScope.h"
#include "c10/dispatch/RunningOperator.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

class CudaEvents final : public Events {
 public:
  explicit CudaEvents(DeviceIndex device) : device_(device) {}

  void* create_event() noexcept override {
    const DeviceIndex before = select();
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) {
      cudaGetLastError();
      event = nullptr;
    }
    unselect(before);
    return event;
  }

  bool record(void* event, int64_t stream) noexcept override {
    const DeviceIndex before = select();
    const cudaError_t status = cudaEventRecord(static_cast<cudaEvent_t>(event), handle(stream));
    if (status != cudaSuccess) cudaGetLastError();
    unselect(before);
    return status == cudaSuccess;
  }

  void wait(void* event, int64_t stream) override {
    const SelectedDevice guard(device_);
    C10_CUDA_CHECK(cudaStreamWaitEvent(handle(stream), static_cast<cudaEvent_t>(event), 0));
  }

  bool query(void* event) override {
    const RelaxedCapture relaxed;
    const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    C10_CUDA_CHECK(status);
    return true;
  }

  void synchronize(void* event) override {
    const RelaxedCapture relaxed;
    C10_CUDA_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(event)));
  }

  bool is_capturing(int64_t stream) noexcept override { return is_capturing_now(handle(stream)); }

 private:
  cudaStream_t handle(int64_t stream) const {
    return native({Device(DeviceType::CUDA, device_), stream});
  }

  /// As SelectedDevice, where nothing may be thrown. Returns -1 if the device already is selected.
  DeviceIndex select() const noexcept {
    int before = -1;
    if (cudaGetDevice(&before) != cudaSuccess || before == device_) return -1;
    cudaSetDevice(device_);
    return static_cast<DeviceIndex>(before);
  }
  static void unselect(DeviceIndex before) noexcept {
    if (before >= 0) cudaSetDevice(before);
  }

  const DeviceIndex device_;
};

/// One device's heap with what it works on.
struct DeviceHeap {
  explicit DeviceHeap(DeviceIndex device)
      : segments(make_cuda_segments(device)), events(device), heap(device, *segments, events) {}

  std::unique_ptr<Segments> segments;
  CudaEvents events;
  Heap heap;
};

constexpr size_t kMostDevices = 128;
// Never destroyed: blocks are also freed after static destructors have run.
constinit std::array<std::atomic<DeviceHeap*>, kMostDevices> heaps = {};

DeviceHeap* existing_heap(size_t device) { return heaps[device].load(std::memory_order_acquire); }

void free_block(void* context) {
  Block* const block = static_cast<Block*>(context);
  heap_of(static_cast<DeviceIndex>(block->area->device)).free(block);
}

struct CachingAllocator final : Allocator {
  DataPtr allocate(size_t bytes, DeviceIndex index) override {
    const DeviceIndex device = index >= 0 ? index : current_device();
    const Device owner(DeviceType::CUDA, device);
    if (bytes == 0) return DataPtr(nullptr, nullptr, nullptr, owner);

    const int64_t stream = current_stream_of(device).id;
    const OperatorEntry* const caller = RunningOperator::outermost();
    Block* const block =
        heap_of(device).allocate(bytes, stream, caller != nullptr ? caller->name() : nullptr);
    return DataPtr(reinterpret_cast<void*>(block->address), block, &free_block, owner);
  }
};

/// Whether work put into `stream` becomes part of the same graph as work put into `captured`.
bool is_captured_with(cudaStream_t stream, cudaStream_t captured) {
  if (stream == captured) return true;
  if (!is_capturing_now(stream)) return false;

  const auto capture_of = [](cudaStream_t which) -> unsigned long long {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    C10_CUDA_CHECK(cudaStreamGetCaptureInfo(which, &status, &id));
    return status == cudaStreamCaptureStatusActive ? id : 0;
  };
  const unsigned long long id = capture_of(captured);
  return id != 0 && capture_of(stream) == id;
}

}  // namespace

Heap& heap_of(DeviceIndex device) {
  const size_t index = static_cast<size_t>(device);
  if (DeviceHeap* const known = existing_heap(index)) return known->heap;

  static std::mutex making;
  const std::lock_guard lock(making);
  if (existing_heap(index) == nullptr)
    heaps[index].store(new DeviceHeap(device), std::memory_order_release);
  return existing_heap(index)->heap;
}

void add_memory_pressure_callback(DeviceIndex device, std::function<void()> callback) {
  heap_of(device).add_pressure_callback(std::move(callback));
}

std::optional<uint64_t> before_synchronize(Stream stream) {
  DeviceHeap* const known = existing_heap(static_cast<size_t>(stream.device.index));
  if (known == nullptr) return std::nullopt;
  return known->heap.before_synchronize(stream.id);
}
void after_synchronize(Stream stream, std::optional<uint64_t> mark) {
  if (mark.has_value()) heap_of(stream.device.index).after_synchronize(stream.id, *mark);
}
void forget_stream(Stream stream) { heap_of(stream.device.index).forget_stream(stream.id); }

// --- Memory.h ---

Allocator& device_allocator() {
  if (!caches_memory()) return plain_allocator();
  static CachingAllocator& only = *new CachingAllocator;
  return only;
}

void record_stream(const DataPtr& data, Stream stream) {
  if (data.deleter() != &free_block) return;  // memory of another owner

  Block* const block = static_cast<Block*>(data.context());
  TORCH_CHECK(stream.device == data.device(), "record_stream: memory on ", data.device(),
              " cannot be used by a stream of ", stream.device);
  heap_of(stream.device.index).note_use(block, stream.id);
}

MemoryPoolId new_memory_pool() {
  static std::atomic<int64_t> pools{0};
  return {0, ++pools};
}

void begin_allocating_from_pool(DeviceIndex device, MemoryPoolId pool, cudaStream_t stream) {
  const auto accepts = [device, stream](int64_t id) {
    return is_captured_with(native({Device(DeviceType::CUDA, device), id}), stream);
  };
  heap_of(device).begin_pool(pool, accepts, /*capturing=*/true);
}

void end_allocating_from_pool(DeviceIndex device, MemoryPoolId pool) {
  heap_of(device).end_pool(pool);
}
void release_pool(DeviceIndex device, MemoryPoolId pool) { heap_of(device).release_pool(pool); }

Segment segment_of(const void* data, size_t bytes) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  for (size_t device = 0; device < kMostDevices; ++device) {
    if (existing_heap(device) == nullptr) continue;
    BaseAllocation base = existing_heap(device)->heap.base_of(address);
    if (base.bytes == 0) continue;
    return {reinterpret_cast<void*>(base.address), base.bytes, std::move(base.granules)};
  }
  return {const_cast<void*>(data), bytes, {}};
}

std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex device) {
  return heap_of(device).statistics();
}

std::string memory_snapshot() {
  std::string json = "[";
  for (size_t device = 0; device < kMostDevices; ++device) {
    if (existing_heap(device) != nullptr) existing_heap(device)->heap.append_snapshot(json);
  }
  return json + "]";
}

void empty_cache() {
  for (size_t device = 0; device < kMostDevices; ++device) {
    if (existing_heap(device) != nullptr) existing_heap(device)->heap.empty_cache();
  }
}

void reset_peak_memory_stats(DeviceIndex device) { heap_of(device).reset_peaks(); }
void reset_accumulated_memory_stats(DeviceIndex device) { heap_of(device).reset_accumulated(); }
void set_memory_fraction(DeviceIndex device, double fraction) {
  heap_of(device).set_fraction(fraction);
}
double memory_fraction(DeviceIndex device) { return heap_of(device).fraction(); }

}  // namespace c10::cuda
