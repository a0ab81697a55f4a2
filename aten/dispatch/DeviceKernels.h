#pragma once
// The loops of one operator by device, behind a wrapper that is the same for all devices.
#include "c10/core/Device.h"
#include "c10/util/Exception.h"

namespace at {

/// Called with a device and the arguments of the loop. Meta tensors have no elements to loop over.
/// The arguments follow from the kernels: `const DeviceKernels loop("add.Tensor", &add_kernel);`
template <class... Args>
class DeviceKernels {
 public:
  using Kernel = void (*)(Args...);

  DeviceKernels(const char* name, Kernel cpu) : name_(name) {
    kernels_[static_cast<int>(c10::DeviceType::CPU)] = cpu;
  }

  template <class... Given>
  void operator()(c10::Device device, Given&&... arguments) const {
    if (device.is_meta()) return;

    const Kernel kernel = kernels_[static_cast<int>(device.type)];
    TORCH_CHECK_NOT_IMPLEMENTED(kernel != nullptr, name_, " has no kernel for device '", device,
                                "'");
    kernel(static_cast<Given&&>(arguments)...);
  }

 private:
  const char* name_;
  Kernel kernels_[c10::kNumDeviceTypes] = {};
};

template <class... Args>
DeviceKernels(const char*, void (*)(Args...)) -> DeviceKernels<Args...>;

}  // namespace at
