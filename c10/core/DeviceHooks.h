// DeviceHooks: what a backend in another shared object does for the rest of the library.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c10/core/Allocator.h"
#include "c10/core/Device.h"
#include "c10/core/DeviceGraph.h"
#include "c10/core/Stream.h"
#include "c10/util/Export.h"

namespace c10 {

/// Whether devices of this type have memory of their own, which a backend in another shared object
/// looks after: all but the CPU and meta.
constexpr bool is_accelerator(DeviceType type) {
  return type == DeviceType::CUDA || type == DeviceType::PrivateUse1;
}
constexpr bool is_accelerator(Device device) { return is_accelerator(device.type); }

/// What torch.cuda.get_device_properties shows.
struct DeviceProperties {
  std::string name;
  int major = 0;  // of the compute capability
  int minor = 0;
  size_t total_memory = 0;  // bytes
  int multi_processor_count = 0;
  int max_threads_per_multi_processor = 0;
  int warp_size = 32;
  size_t shared_memory_per_block = 0;  // bytes, without opting in to more
  size_t l2_cache_size = 0;            // bytes

  // Absent unless the backend knows them.
  std::optional<std::string> uuid;  // "GPU-8a4b..." without the prefix
  std::optional<int> pci_bus_id;
  std::optional<int> pci_device_id;
  std::optional<int> pci_domain_id;
  std::optional<int> max_threads_per_block;
  std::optional<int> regs_per_multiprocessor;
  std::optional<size_t> shared_memory_per_block_optin;     // bytes
  std::optional<size_t> shared_memory_per_multiprocessor;  // bytes
  std::optional<bool> is_integrated;
  std::optional<bool> is_multi_gpu_board;
};

/// Memory that another process can open.
struct SharedBlock {
  std::string handle;  // of the whole block, in the backend's form
  size_t offset = 0;   // of the first shared byte in the block
  size_t bytes = 0;    // shared, from the offset on
};

/// The devices of one type. A backend implements it and hands it to set_device_hooks when its
/// shared object is loaded; bindings and operators call it and link to no backend. All functions
/// can be called from any thread; the current device and the current streams are the calling
/// thread's. Failures throw c10::Error.
class TORCH_PY_API DeviceHooks {
 public:
  virtual ~DeviceHooks();

  // --- Devices ---

  /// The number of usable devices; 0 without a driver. Does not throw.
  virtual int device_count() noexcept = 0;
  virtual DeviceIndex current_device() = 0;
  /// Selects a device and returns the one that was selected before.
  virtual DeviceIndex exchange_device(DeviceIndex index) = 0;
  virtual DeviceProperties properties(DeviceIndex index) = 0;
  virtual bool can_access_peer(DeviceIndex from, DeviceIndex to) = 0;
  /// Waits for all work of all streams of the device.
  virtual void synchronize_device(DeviceIndex index) = 0;
  /// Versions of the driver and of the runtime as CUDA counts them: 13000 is 13.0.
  virtual std::pair<int, int> versions() = 0;

  // --- Streams ---

  virtual Stream default_stream(DeviceIndex index) = 0;
  virtual Stream current_stream(DeviceIndex index) = 0;
  /// Makes `stream` the current one of its device and returns the one it replaces.
  virtual Stream exchange_stream(Stream stream) = 0;
  /// A stream of the pool; a lower number is a higher priority.
  virtual Stream new_stream(DeviceIndex index, int priority) = 0;
  virtual Stream external_stream(DeviceIndex index, void* handle) = 0;
  virtual void* native_stream(Stream stream) = 0;
  virtual int stream_priority(Stream stream) = 0;
  /// The lowest and the highest priority: (0, -5).
  virtual std::pair<int, int> priority_range() = 0;
  /// Whether all work put into the stream so far is done.
  virtual bool query_stream(Stream stream) = 0;
  virtual void synchronize_stream(Stream stream) = 0;

  // --- Events: see c10/core/Event.h ---

  virtual void* create_event(DeviceIndex index, bool timing, bool blocking, bool interprocess) = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record_event(void* event, Stream stream) = 0;
  /// Lets the work put into `stream` from now on wait for the event; does not block the caller.
  virtual void wait_event(void* event, Stream stream) = 0;
  virtual bool query_event(void* event) = 0;
  virtual void synchronize_event(void* event) = 0;
  /// Milliseconds between two recorded events.
  virtual float elapsed_time(void* start, void* end) = 0;
  virtual std::string event_ipc_handle(void* event) = 0;
  virtual void* open_event(DeviceIndex index, const std::string& ipc_handle) = 0;

  // --- Memory ---

  virtual Allocator& allocator() = 0;
  /// Memory of the host that devices read and write by themselves.
  virtual Allocator& pinned_allocator() = 0;
  virtual bool is_pinned(const void* data) = 0;
  /// Free and total bytes of a device.
  virtual std::pair<size_t, size_t> memory_info(DeviceIndex index) = 0;
  /// Says that `stream` uses the memory that `data` owns, which was allocated for another stream.
  virtual void record_stream(const DataPtr& data, Stream stream) = 0;
  /// Copies bytes between host and device or between devices, in order after the work of the
  /// current streams of the devices involved. Unless `non_blocking` and the host's side is pinned,
  /// it returns when the host's bytes have been read or written.
  virtual void copy_bytes(void* to, Device to_device, const void* from, Device from_device,
                          size_t bytes, bool non_blocking) = 0;

  // --- Statistics and limits of the caching allocator ---

  /// Names as torch.cuda.memory_stats has them: "allocated_bytes.all.current".
  virtual std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex index) = 0;
  /// JSON of the structure that torch.cuda.memory_snapshot returns.
  virtual std::string memory_snapshot() = 0;
  /// Gives cached memory that no tensor uses back to the driver.
  virtual void empty_cache() = 0;
  virtual void reset_peak_memory_stats(DeviceIndex index) = 0;
  virtual void reset_accumulated_memory_stats(DeviceIndex index) = 0;
  /// Limits the memory of a device that this process may use to a part of its total.
  virtual void set_memory_fraction(DeviceIndex index, double fraction) = 0;
  virtual double memory_fraction(DeviceIndex index) = 0;

  // --- What a backend may lack: these throw NotImplementedError unless it has them ---

  /// A graph that has recorded nothing. With `keep_graph`, the recorded work stays available and
  /// is instantiated separately.
  virtual std::unique_ptr<DeviceGraph> new_graph(bool keep_graph);
  /// An identifier for memory that several graphs share.
  virtual MemoryPoolId new_memory_pool();
  /// Whether work put into the stream is being recorded.
  virtual bool is_capturing(Stream stream);

  /// The device that memory at an address of another library is on; by default the current one.
  virtual DeviceIndex device_of(const void* data);

  /// Opens the memory that `data` owns to other processes; the memory must outlive their use.
  virtual SharedBlock share_memory(const DataPtr& data, size_t bytes);
  /// Memory of another process, closed with the result.
  virtual DataPtr open_memory(DeviceIndex index, const SharedBlock& block);
  /// Frees what other processes have closed.
  virtual void collect_shared_memory();

  /// Statistics of pinned memory, by the names that torch.cuda.host_memory_stats has.
  virtual std::vector<std::pair<std::string, int64_t>> pinned_memory_stats();
  virtual void reset_peak_pinned_memory_stats();
  virtual void reset_accumulated_pinned_memory_stats();

  // Marks in the time line of a profiler. Without one they have no effect: depths and numbers are
  // counted all the same.
  virtual void mark(const char* text);
  /// Begins a range inside of the calling thread's last one, and returns its depth, from 0 on.
  virtual int push_range(const char* text);
  /// Ends the thread's last range and returns its depth; negative without a range.
  virtual int pop_range();
  /// Begins a range that any thread can end, and returns its number.
  virtual uint64_t start_range(const char* text);
  virtual void end_range(uint64_t id);
};

/// Whether a stream other than a default one was ever current. Until then, no block of memory can
/// be used by several streams, and nobody needs to say which ones use it.
TORCH_PY_API extern std::atomic<bool> uses_several_streams;

/// Null until a backend for the type is loaded. Tries to load the backend of CUDA on first use.
TORCH_PY_API DeviceHooks* device_hooks_or_null(DeviceType type);
/// The hooks of a backend that is in the process already; null otherwise. Loads nothing.
TORCH_PY_API DeviceHooks* loaded_hooks(DeviceType type);
/// As device_hooks_or_null, and throws AbsentDeviceError without a backend.
TORCH_PY_API DeviceHooks& device_hooks(DeviceType type);
TORCH_PY_API void set_device_hooks(DeviceType type, DeviceHooks* hooks);

/// Called once, when a device of a type without hooks is first needed; it may load the shared
/// object that calls set_device_hooks.
TORCH_PY_API void set_backend_loader(DeviceType type, void (*loader)());

/// An accelerator with the index of its current device, "cuda:0" for "cuda"; other devices as they
/// are. Tensors always know their index.
TORCH_PY_API Device resolved(Device device);

}  // namespace c10
