#pragma once
// Functions that generated registrations call. `Op` is a struct of at::ops.
#include "aten/core/Tensor.h"
#include "c10/core/AbsentDevice.h"
#include "c10/core/DeviceHooks.h"
#include "c10/dispatch/OperatorEntry.h"
#include "c10/dispatch/RunningOperator.h"

namespace at {

/// Makes the operator known by its name. Kernels may be set before or after.
template <class Op>
void register_operator() {
  Dispatcher::singleton().add(&Op::entry);
}

template <class Op>
void register_kernel(DispatchKeySet keys, typename Op::Schema* kernel, const char* name,
                     const char* origin) {
  Op::entry.set_kernel(keys, reinterpret_cast<void*>(kernel), name, origin);
}

template <class Op, auto* kernel, class Schema>
struct OnDevice;

/// A kernel as it is called for tensors of accelerators: messages of the device can say whose work
/// it is.
template <class Op, auto* kernel, class Result, class... Args>
struct OnDevice<Op, kernel, Result(DispatchKeySet, Args...)> {
  static Result call(DispatchKeySet keys, Args... arguments) {
    const c10::RunningOperator scope(Op::entry);
    return kernel(keys, std::forward<Args>(arguments)...);
  }
};

constexpr DispatchKeySet kAcceleratorKeys =
    DispatchKeySet(DispatchKey::CUDA) | DispatchKey::PrivateUse1;

/// Registers a wrapper of kernels: as it is, and for accelerators with the name of its operator.
template <class Op, auto* kernel>
void register_wrapper(DispatchKeySet keys, const char* name, const char* origin) {
  constexpr DispatchKeySet kDeviceKeys =
      kAcceleratorKeys | DispatchKey::AutogradCUDA | DispatchKey::AutogradPrivateUse1;
  register_kernel<Op>(keys - kDeviceKeys, kernel, name, origin);
  register_kernel<Op>(keys & kDeviceKeys, &OnDevice<Op, kernel, typename Op::Schema>::call, name,
                      origin);
}

template <class Op, class Schema>
struct BelowAutograd;

/// The autograd kernel of an operator without a gradient: runs it and records nothing.
template <class Op, class Result, class... Args>
struct BelowAutograd<Op, Result(DispatchKeySet, Args...)> {
  static Result call(DispatchKeySet keys, Args... arguments) {
    AutoDispatchBelowAutograd below;
    return Op::redispatch(keys & kBelowAutograd, arguments...);
  }
};

template <class Op>
void register_without_gradient(DispatchKeySet keys = kAutogradKeys) {
  register_kernel<Op>(keys, &BelowAutograd<Op, typename Op::Schema>::call, "without gradient",
                      "aten/dispatch/Register.h");
}

/// Keys of a call whose tensors may all be absent; the call then runs on the CPU.
inline DispatchKeySet keys_or_cpu(DispatchKeySet keys) {
  return keys.empty() ? DispatchKeySet(DispatchKey::CPU) : keys;
}
/// The device whose kernel serves a call with these tensors: that of the first tensor that is not
/// on the CPU. Calls without keys of other devices pay for one comparison.
inline Device device_of_call(DispatchKeySet keys, std::initializer_list<TensorList> arguments) {
  if (C10_LIKELY((keys & kAcceleratorKeys).empty())) return kCPU;
  for (const TensorList tensors : arguments) {
    for (const Tensor& tensor : tensors) {
      if (tensor.defined() && c10::is_accelerator(tensor.device())) return tensor.device();
    }
  }
  const bool is_cuda = keys.has(DispatchKey::CUDA);
  return resolved(Device(is_cuda ? DeviceType::CUDA : DeviceType::PrivateUse1));
}
/// Keys of a factory, from its device argument and, if it has one, its layout argument.
inline DispatchKeySet keys_of_device(std::optional<Device> device,
                                     std::optional<Layout> layout = std::nullopt) {
  if (C10_UNLIKELY(layout == Layout::Mkldnn)) {
    const Device given = device.value_or(kCPU);
    TORCH_CHECK_NOT_IMPLEMENTED(given.is_cpu(),
                                "Unsupported device type for mkldnn layout: ", given);
    return DispatchKeySet(DispatchKey::MkldnnCPU);
  }
  const DispatchKey key = dense_backend_key(device.value_or(kCPU).type);
  if (C10_UNLIKELY(key == DispatchKey::Undefined)) throw AbsentDeviceError(*device);
  return DispatchKeySet(key);
}

}  // namespace at
