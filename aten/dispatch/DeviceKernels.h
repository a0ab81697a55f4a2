#pragma once
// The kernels of one operator by device, behind a wrapper that is the same for all devices.
#include "aten/dispatch/HostFallback.h"
#include "c10/core/DeviceGuard.h"
#include "c10/util/Exception.h"

namespace at {

/// Tells the allocator that the current stream of its device uses a tensor's memory; arguments that
/// are not tensors have none.
TORCH_PY_API void note_use(const Tensor& tensor);
TORCH_PY_API void note_use(TensorList tensors);
TORCH_PY_API void note_use(const TensorIterator& iter);
template <class T>
void note_use(const T&) {}

template <class Signature>
class DeviceKernels;

/// Called with a device and the arguments of the kernel. Meta tensors have no elements to loop
/// over. A device without a kernel of its own runs the CPU's on copies: HostFallback.
/// Objects are constructed while the core library is loaded; a backend's library sets its kernels
/// when it is loaded later.
template <class Result, class... Args>
class DeviceKernels<Result(Args...)> {
 public:
  using Kernel = Result (*)(Args...);

  /// Bit k of `written` says that the kernel writes to argument k.
  DeviceKernels(const char* name, Kernel cpu, uint32_t written)
      : cpu_(cpu), name_(name), written_(written) {}
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;

  void set(c10::DeviceType device, Kernel kernel) { others_[static_cast<int>(device)] = kernel; }

  Result operator()(c10::Device device, Args... arguments) const {
    if (C10_LIKELY(device.is_cpu())) return cpu_(arguments...);
    return elsewhere(device, arguments...);
  }

 private:
  C10_NOINLINE Result elsewhere(c10::Device device, Args... arguments) const {
    if (device.is_meta()) return Result();

    const c10::DeviceGuard guard(device);
    if (c10::uses_several_streams.load(std::memory_order_relaxed)) (note_use(arguments), ...);
    if (const Kernel kernel = others_[static_cast<int>(device.type)]) return kernel(arguments...);

    TORCH_CHECK_NOT_IMPLEMENTED(c10::is_accelerator(device), name_, " has no kernel for device '",
                                device, "'");
    return run_on_host<Result, Args...>(name_, device, cpu_, written_,
                                        std::index_sequence_for<Args...>(), arguments...);
  }

  Kernel cpu_;
  Kernel others_[c10::kNumDeviceTypes] = {};  // by device type
  const char* name_;                          // of the operator, in messages
  uint32_t written_;
};

}  // namespace at
