// SynchronousDeviceHooks: a base for backends whose devices work while the caller waits.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "c10/core/DeviceHooks.h"

namespace c10 {

/// The hooks of devices without streams of their own: work is done when the call that asks for it
/// returns, so there is one stream for each device, and waiting returns at once. What remains for a
/// backend is to count its devices, to provide memory and to copy bytes. A backend with queues of
/// work overrides the functions of streams and events as well.
class TORCH_PY_API SynchronousDeviceHooks : public DeviceHooks {
 public:
  ~SynchronousDeviceHooks() override;

  // A backend defines these three, which DeviceHooks describes.
  int device_count() noexcept override = 0;
  Allocator& allocator() override = 0;
  void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                  bool non_blocking) override = 0;

  DeviceIndex current_device() override;
  DeviceIndex exchange_device(DeviceIndex index) override;
  DeviceProperties properties(DeviceIndex index) override;
  bool can_access_peer(DeviceIndex from, DeviceIndex to) override;
  void synchronize_device(DeviceIndex index) override;
  std::pair<int, int> versions() override;

  Stream default_stream(DeviceIndex index) override;
  Stream current_stream(DeviceIndex index) override;
  Stream exchange_stream(Stream stream) override;
  Stream new_stream(DeviceIndex index, int priority) override;
  Stream external_stream(DeviceIndex index, void* handle) override;
  void* native_stream(Stream stream) override;
  int stream_priority(Stream stream) override;
  std::pair<int, int> priority_range() override;
  bool query_stream(Stream stream) override;
  void synchronize_stream(Stream stream) override;

  void* create_event(DeviceIndex index, bool timing, bool blocking, bool interprocess) override;
  void destroy_event(void* event) noexcept override;
  void record_event(void* event, Stream stream) override;
  void wait_event(void* event, Stream stream) override;
  bool query_event(void* event) override;
  void synchronize_event(void* event) override;
  float elapsed_time(void* start, void* end) override;
  std::string event_ipc_handle(void* event) override;
  void* open_event(DeviceIndex index, const std::string& ipc_handle) override;

  Allocator& pinned_allocator() override;
  bool is_pinned(const void* data) override;
  std::pair<size_t, size_t> memory_info(DeviceIndex index) override;
  void record_stream(const DataPtr& data, Stream stream) override;

  std::vector<std::pair<std::string, int64_t>> memory_stats(DeviceIndex index) override;
  std::string memory_snapshot() override;
  void empty_cache() override;
  void reset_peak_memory_stats(DeviceIndex index) override;
  void reset_accumulated_memory_stats(DeviceIndex index) override;
  void set_memory_fraction(DeviceIndex index, double fraction) override;
  double memory_fraction(DeviceIndex index) override;

 protected:
  /// The type of its devices.
  virtual DeviceType type() const { return DeviceType::PrivateUse1; }
};

}  // namespace c10
