// The error for devices whose backend is not in this process.
#pragma once
#include <string>

#include "c10/core/Device.h"
#include "c10/util/Exception.h"

namespace c10 {

/// Thrown when memory is requested on a device whose backend is not in this process. Python raises
/// the exception that PyTorch raises for that device: see set_error_from_cpp.
class TORCH_PY_API AbsentDeviceError final : public Error {
 public:
  explicit AbsentDeviceError(Device device);
  ~AbsentDeviceError() override;
  Device device() const noexcept { return device_; }

 private:
  Device device_;
};

/// Says why a type has no backend and how to get one, for the errors from now on.
TORCH_PY_API void set_absence_reason(DeviceType type, std::string reason);

}  // namespace c10
