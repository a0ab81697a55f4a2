// The error for devices whose backend is not in this process.
#include "c10/core/AbsentDevice.h"

#include <mutex>
#include <utility>

namespace c10 {

namespace {

std::mutex mutex;

std::string& reason_of(DeviceType type) {
  // Never destroyed: errors may be made while the process ends.
  static auto* const reasons = new std::string[kNumDeviceTypes];
  return reasons[static_cast<int>(type)];
}

std::string explain(Device device) {
  if (static_cast<int>(device.type) < kNumDeviceTypes) {
    const std::lock_guard lock(mutex);
    if (!reason_of(device.type).empty()) return reason_of(device.type);
  }
  return "torch_py was built without " + device_type_name(device.type) +
         " support, or its backend is not loaded: cannot allocate on '" + device.str() + "'";
}

}  // namespace

AbsentDeviceError::AbsentDeviceError(Device device) : Error(explain(device)), device_(device) {}

AbsentDeviceError::~AbsentDeviceError() = default;

void set_absence_reason(DeviceType type, std::string reason) {
  const std::lock_guard lock(mutex);
  reason_of(type) = std::move(reason);
}

}  // namespace c10
