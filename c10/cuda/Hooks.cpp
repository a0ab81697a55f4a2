// The backend's table of functions, which makes CUDA known to the rest of the library.
#include <cstring>

#include "c10/core/DeviceHooks.h"
#include "c10/cuda/Event.h"
#include "c10/cuda/Graph.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Nvtx.h"
#include "c10/cuda/PinnedAllocator.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Sharing.h"
#include "c10/cuda/Stream.h"
#include "c10/cuda/allocator/Allocator.h"

namespace c10::cuda {

namespace {

cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

bool is_pinned_memory(const void* data) {
  cudaPointerAttributes attributes;
  const cudaError_t status = cudaPointerGetAttributes(&attributes, data);
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

/// 16 bytes as 8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const cudaDeviceProp& properties) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

/// Lets the later work of one stream wait for the earlier work of another.
void order_after(Stream later, Stream earlier) {
  const cudaEvent_t event = create_event(earlier.device.index, false, false, false);
  record_event(event, earlier);
  wait_event(event, later);
  C10_CUDA_IGNORE(cudaEventDestroy(event));
}

void copy_between_devices(void* to, DeviceIndex to_device, const void* from,
                          DeviceIndex from_device, size_t bytes) {
  const Stream stream = current_stream_of(to_device);
  const Stream other = current_stream_of(from_device);
  if (from_device != to_device) order_after(stream, other);

  const SelectedDevice guard(to_device);
  if (from_device == to_device)
    C10_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, native(stream)));
  else C10_CUDA_CHECK(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, native(stream)));

  // The source may be reused by its own stream only after the copy.
  if (from_device != to_device) order_after(other, stream);
}

/// A copy from or to the host. The device cannot reach pageable memory: CUDA reads it before the
/// call returns, and writes it before the stream is done.
void copy_with_host(void* to, const void* from, size_t bytes, DeviceIndex device, bool to_host,
                    bool non_blocking) {
  const SelectedDevice guard(device);
  const cudaStream_t stream = current_stream();
  const cudaMemcpyKind kind = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  C10_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));

  void* const host = to_host ? to : const_cast<void*>(from);
  const bool pinned = is_pinned_memory(host);
  if (pinned && non_blocking) record_pinned(host, stream);
  if (to_host ? !(pinned && non_blocking) : (pinned && !non_blocking)) synchronize(stream);
}

class Hooks final : public DeviceHooks {
 public:
  // --- Devices ---

  int device_count() noexcept override { return cuda::device_count(); }
  DeviceIndex current_device() override { return cuda::current_device(); }
  DeviceIndex exchange_device(DeviceIndex index) override { return cuda::exchange_device(index); }

  DeviceProperties properties(DeviceIndex index) override {
    const cudaDeviceProp& found = device_properties(index);
    DeviceProperties result;

    result.name = found.name;
    result.major = found.major;
    result.minor = found.minor;
    result.total_memory = found.totalGlobalMem;
    result.multi_processor_count = found.multiProcessorCount;
    result.max_threads_per_multi_processor = found.maxThreadsPerMultiProcessor;
    result.warp_size = found.warpSize;
    result.shared_memory_per_block = found.sharedMemPerBlock;
    result.l2_cache_size = static_cast<size_t>(found.l2CacheSize);

    result.uuid = uuid_text(found);
    result.pci_bus_id = found.pciBusID;
    result.pci_device_id = found.pciDeviceID;
    result.pci_domain_id = found.pciDomainID;

    result.max_threads_per_block = found.maxThreadsPerBlock;
    result.regs_per_multiprocessor = found.regsPerMultiprocessor;
    result.shared_memory_per_block_optin = found.sharedMemPerBlockOptin;
    result.shared_memory_per_multiprocessor = found.sharedMemPerMultiprocessor;
    result.is_integrated = found.integrated != 0;
    result.is_multi_gpu_board = found.isMultiGpuBoard != 0;
    return result;
  }

  bool can_access_peer(DeviceIndex from, DeviceIndex to) override {
    if (from == to) return true;
    int possible = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, from, to));
    return possible != 0;
  }

  void synchronize_device(DeviceIndex index) override {
    const SelectedDevice guard(index);
    cuda::synchronize_device();
  }

  std::pair<int, int> versions() override {
    int driver = 0;
    int runtime = 0;
    C10_CUDA_CHECK(cudaDriverGetVersion(&driver));
    C10_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    return {driver, runtime};
  }

  // --- Streams ---

  Stream default_stream(DeviceIndex index) override { return cuda::default_stream(index); }
  Stream current_stream(DeviceIndex index) override { return current_stream_of(index); }
  Stream exchange_stream(Stream stream) override { return cuda::exchange_stream(stream); }
  Stream new_stream(DeviceIndex index, int priority) override {
    return pool_stream(index, priority);
  }
  Stream external_stream(DeviceIndex index, void* handle) override {
    return cuda::external_stream(index, static_cast<cudaStream_t>(handle));
  }
  void* native_stream(Stream stream) override { return native(stream); }
  int stream_priority(Stream stream) override { return priority_of(stream); }
  std::pair<int, int> priority_range() override { return cuda::priority_range(); }

  bool query_stream(Stream stream) override {
    const SelectedDevice guard(stream.device.index);
    const cudaError_t status = cudaStreamQuery(native(stream));
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    C10_CUDA_CHECK(status);
    return true;
  }

  void synchronize_stream(Stream stream) override {
    const SelectedDevice guard(stream.device.index);
    const std::optional<uint64_t> mark = before_synchronize(stream);
    synchronize(native(stream));
    after_synchronize(stream, mark);
  }

  // --- Events ---

  void* create_event(DeviceIndex index, bool timing, bool blocking, bool interprocess) override {
    return cuda::create_event(index, timing, blocking, interprocess);
  }
  void destroy_event(void* event) noexcept override {
    C10_CUDA_IGNORE(cudaEventDestroy(as_event(event)));
  }
  void record_event(void* event, Stream stream) override {
    cuda::record_event(as_event(event), stream);
  }
  void wait_event(void* event, Stream stream) override {
    cuda::wait_event(as_event(event), stream);
  }
  bool query_event(void* event) override { return cuda::query_event(as_event(event)); }
  void synchronize_event(void* event) override { cuda::synchronize_event(as_event(event)); }
  float elapsed_time(void* start, void* end) override {
    return cuda::elapsed_time(as_event(start), as_event(end));
  }
  std::string event_ipc_handle(void* event) override {
    return cuda::event_ipc_handle(as_event(event));
  }
  void* open_event(DeviceIndex index, const std::string& ipc_handle) override {
    return cuda::open_event(index, ipc_handle);
  }

  // --- Memory ---

  Allocator& allocator() override { return device_allocator(); }
  Allocator& pinned_allocator() override { return cuda::pinned_allocator(); }
  bool is_pinned(const void* data) override {
    return cuda::device_count() > 0 && is_pinned_memory(data);
  }

  std::pair<size_t, size_t> memory_info(DeviceIndex index) override {
    const SelectedDevice guard(index);
    size_t free = 0;
    size_t total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return {free, total};
  }

  void record_stream(const DataPtr& data, Stream stream) override {
    cuda::record_stream(data, stream);
  }

  void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                  bool non_blocking) override {
    if (bytes == 0) return;
    if (to_device.is_cuda() && from_device.is_cuda())
      copy_between_devices(to, to_device.index, from, from_device.index, bytes);
    else if (to_device.is_cuda())
      copy_with_host(to, from, bytes, to_device.index, false, non_blocking);
    else if (from_device.is_cuda())
      copy_with_host(to, from, bytes, from_device.index, true, non_blocking);
    else std::memcpy(to, from, bytes);
  }

  std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex index) override {
    return cuda::memory_stats(index);
  }
  std::string memory_snapshot() override { return cuda::memory_snapshot(); }
  void empty_cache() override { cuda::empty_cache(); }
  void reset_peak_memory_stats(DeviceIndex index) override { cuda::reset_peak_memory_stats(index); }
  void reset_accumulated_memory_stats(DeviceIndex index) override {
    cuda::reset_accumulated_memory_stats(index);
  }
  void set_memory_fraction(DeviceIndex index, double fraction) override {
    cuda::set_memory_fraction(index, fraction);
  }
  double memory_fraction(DeviceIndex index) override { return cuda::memory_fraction(index); }

  std::vector<std::pair<std::string, int64_t>> pinned_memory_stats() override {
    return cuda::pinned_memory_stats();
  }
  void reset_peak_pinned_memory_stats() override { cuda::reset_peak_pinned_memory_stats(); }
  void reset_accumulated_pinned_memory_stats() override {
    cuda::reset_accumulated_pinned_memory_stats();
  }

  // --- Graphs ---

  std::unique_ptr<DeviceGraph> new_graph(bool keep_graph) override {
    return make_graph(keep_graph);
  }
  MemoryPoolId new_memory_pool() override { return cuda::new_memory_pool(); }
  bool is_capturing(Stream stream) override { return cuda::is_capturing(stream); }

  // --- Other processes ---

  SharedBlock share_memory(const DataPtr& data, size_t bytes) override {
    return cuda::share_memory(data, bytes);
  }
  DataPtr open_memory(DeviceIndex index, const SharedBlock& block) override {
    return cuda::open_memory(index, block);
  }

  // --- Profilers ---

  void mark(const char* text) override { cuda::mark(text); }
  int push_range(const char* text) override { return cuda::push_range(text); }
  int pop_range() override { return cuda::pop_range(); }
  uint64_t start_range(const char* text) override { return cuda::start_range(text); }
  void end_range(uint64_t id) override { cuda::end_range(id); }
};

[[maybe_unused]] const bool registered = [] {
  set_device_hooks(DeviceType::CUDA, new Hooks);
  return true;
}();

}  // namespace

}  // namespace c10::cuda
