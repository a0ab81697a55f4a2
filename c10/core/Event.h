// Event: a point in the work of a stream.
#pragma once
#include <string>
#include <utility>

#include "c10/core/DeviceHooks.h"
#include "c10/util/Exception.h"

namespace c10 {

/// Marks a point in the work of a stream, so that other streams or the host can wait for it.
/// Made on the device of the stream where it is first recorded; move-only.
class Event {
 public:
  explicit Event(DeviceType type, bool timing = false, bool blocking = false,
                 bool interprocess = false)
      : hooks_(&device_hooks(type)),
        timing_(timing),
        blocking_(blocking),
        interprocess_(interprocess) {}
  /// An event of another process.
  Event(Device device, const std::string& ipc_handle)
      : hooks_(&device_hooks(device.type)),
        native_(hooks_->open_event(device.index, ipc_handle)),
        device_(device) {}
  Event(Event&& other) noexcept
      : hooks_(other.hooks_),
        native_(std::exchange(other.native_, nullptr)),
        device_(other.device_),
        timing_(other.timing_),
        blocking_(other.blocking_),
        interprocess_(other.interprocess_) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (native_ != nullptr) hooks_->destroy_event(native_);
  }

  void record(Stream stream) {
    create_on(stream.device);
    TORCH_CHECK(stream.device == device_, "Event device ", device_,
                " does not match recording stream's device ", stream.device, ".");
    hooks_->record_event(native_, stream);
  }
  /// The later work of `stream` waits for the recorded point; nothing to wait for before a record.
  void wait(Stream stream) const {
    if (native_ != nullptr) hooks_->wait_event(native_, stream);
  }
  /// True where nothing was recorded.
  bool query() const { return native_ == nullptr || hooks_->query_event(native_); }
  void synchronize() const {
    if (native_ != nullptr) hooks_->synchronize_event(native_);
  }
  float elapsed_time(const Event& end) const {
    TORCH_CHECK(native_ != nullptr && end.native_ != nullptr,
                "Both events must be recorded before calculating elapsed time.");
    TORCH_CHECK(timing_ && end.timing_,
                "Both events must be created with argument 'enable_timing=True'.");
    return hooks_->elapsed_time(native_, end.native_);
  }
  std::string ipc_handle(Device device) {
    create_on(device);
    return hooks_->event_ipc_handle(native_);
  }

  bool is_created() const { return native_ != nullptr; }
  Device device() const { return device_; }
  void* native() const { return native_; }

 private:
  void create_on(Device device) {
    if (native_ != nullptr) return;
    native_ = hooks_->create_event(device.index, timing_, blocking_, interprocess_);
    device_ = device;
  }

  DeviceHooks* hooks_;
  void* native_ = nullptr;  // of the backend; null until the first record
  Device device_;
  bool timing_ = false;
  bool blocking_ = false;
  bool interprocess_ = false;
};

}  // namespace c10
