// The error for devices whose backend is not in this process.
#include "c10/core/AbsentDevice.h"

namespace c10 {

AbsentDeviceError::AbsentDeviceError(Device device)
    : Error("torch_py was built without " + device_type_name(device.type) +
            " support, or its backend is not loaded: cannot allocate on '" + device.str() + "'"),
      device_(device) {}

AbsentDeviceError::~AbsentDeviceError() = default;

}  // namespace c10
