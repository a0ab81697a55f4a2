// The table of backends, and what follows from it.
#include "c10/core/DeviceHooks.h"

#include <atomic>
#include <mutex>

#include "c10/core/AbsentDevice.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {

constinit std::atomic<DeviceHooks*> hooks_of[kNumDeviceTypes] = {};
constinit std::atomic<void (*)()> loaders[kNumDeviceTypes] = {};

[[noreturn]] void refuse(const char* what) {
  TORCH_THROW(NotImplementedError, "the loaded backend has no ", what);
}

}  // namespace

constinit std::atomic<bool> uses_several_streams{false};

DeviceHooks::~DeviceHooks() = default;
DeviceGraph::~DeviceGraph() = default;

std::unique_ptr<DeviceGraph> DeviceHooks::new_graph(bool) { refuse("graphs"); }
MemoryPoolId DeviceHooks::new_memory_pool() { refuse("memory pools"); }
bool DeviceHooks::is_capturing(Stream) { return false; }
DeviceIndex DeviceHooks::device_of(const void*) { return current_device(); }
SharedBlock DeviceHooks::share_memory(const DataPtr&, size_t) {
  refuse("memory that processes share");
}
DataPtr DeviceHooks::open_memory(DeviceIndex, const SharedBlock&) {
  refuse("memory that processes share");
}
void DeviceHooks::collect_shared_memory() {}
void DeviceHooks::mark(const char*) { refuse("marks for profilers (NVTX)"); }
int DeviceHooks::push_range(const char*) { refuse("marks for profilers (NVTX)"); }
int DeviceHooks::pop_range() { refuse("marks for profilers (NVTX)"); }
uint64_t DeviceHooks::start_range(const char*) { refuse("marks for profilers (NVTX)"); }
void DeviceHooks::end_range(uint64_t) { refuse("marks for profilers (NVTX)"); }
std::vector<std::pair<std::string, int64_t>> DeviceHooks::pinned_memory_stats() {
  refuse("statistics of pinned memory");
}
void DeviceHooks::reset_peak_pinned_memory_stats() { refuse("statistics of pinned memory"); }
void DeviceHooks::reset_accumulated_pinned_memory_stats() { refuse("statistics of pinned memory"); }

DeviceHooks* device_hooks_or_null(DeviceType type) {
  const int index = static_cast<int>(type);
  if (index >= kNumDeviceTypes) return nullptr;
  if (DeviceHooks* const hooks = hooks_of[index].load(std::memory_order_acquire)) return hooks;

  // The loader calls set_device_hooks, or finds nothing to load and is not asked again.
  if (void (*const loader)() = loaders[index].load(std::memory_order_acquire)) loader();
  return hooks_of[index].load(std::memory_order_acquire);
}

DeviceHooks* loaded_hooks(DeviceType type) {
  const int index = static_cast<int>(type);
  return index < kNumDeviceTypes ? hooks_of[index].load(std::memory_order_acquire) : nullptr;
}

DeviceHooks& device_hooks(DeviceType type) {
  DeviceHooks* const hooks = device_hooks_or_null(type);
  if (hooks == nullptr) throw AbsentDeviceError(Device(type));
  return *hooks;
}

void set_device_hooks(DeviceType type, DeviceHooks* hooks) {
  hooks_of[static_cast<int>(type)].store(hooks, std::memory_order_release);
}

void set_backend_loader(DeviceType type, void (*loader)()) {
  loaders[static_cast<int>(type)].store(loader, std::memory_order_release);
}

Device resolved(Device device) {
  if (!is_accelerator(device)) return device;

  DeviceHooks* const hooks = device_hooks_or_null(device.type);
  if (hooks == nullptr) return device;
  if (!device.has_index()) return Device(device.type, hooks->current_device());

  TORCH_CHECK(device.index < hooks->device_count(),
              device.is_cuda() ? "CUDA" : device_type_name(device.type),
              " error: invalid device ordinal: there are ", hooks->device_count(),
              " devices, got '", device, "'");
  return device;
}

}  // namespace c10
