// Guards: a device or a stream is the current one within a scope.
#pragma once
#include <optional>

#include "c10/core/DeviceHooks.h"

namespace c10 {

/// Selects the device of a tensor until the end of the scope. Costs one comparison for the CPU.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) {
    if (is_accelerator(device) && device.has_index()) select(device);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (hooks_ != nullptr) hooks_->exchange_device(before_);
  }

 private:
  C10_NOINLINE void select(Device device) {
    DeviceHooks& hooks = device_hooks(device.type);
    before_ = hooks.exchange_device(device.index);
    if (before_ != device.index) hooks_ = &hooks;
  }

  DeviceHooks* hooks_ = nullptr;  // null where nothing has to be undone
  DeviceIndex before_ = 0;
};

/// Makes a stream, and its device, the current ones until the end of the scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream)
      : hooks_(device_hooks(stream.device.type)),
        device_(hooks_.exchange_device(stream.device.index)),
        before_(hooks_.exchange_stream(stream)) {}
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard() {
    hooks_.exchange_stream(before_);
    hooks_.exchange_device(device_);
  }

 private:
  DeviceHooks& hooks_;
  DeviceIndex device_;
  Stream before_;
};

}  // namespace c10
