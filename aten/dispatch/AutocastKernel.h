#pragma once
// The kernels for the Autocast keys: Note [Automatic dtypes].
#include <concepts>
#include <utility>

#include "aten/core/Autocast.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::autocast {

template <class Argument>
constexpr bool kHoldsTensors =
    std::same_as<Argument, const Tensor&> || std::same_as<Argument, TensorList>;

/// An argument as the operator takes it: tensors converted, all else as given.
template <class Argument>
decltype(auto) converted(const Cast& cast, Argument&& argument) {
  if constexpr (kHoldsTensors<Argument>) return cast(argument);
  else return std::forward<Argument>(argument);
}

template <class Op, DeviceType device, Policy policy, class Schema>
struct Kernel;

template <class Op, DeviceType device, Policy policy, class Result, class... Args>
struct Kernel<Op, device, policy, Result(DispatchKeySet, Args...)> {
  static Result call(DispatchKeySet keys, Args... arguments) {
    constexpr DispatchKey key = c10::autocast_key(device);
    const c10::ExcludeDispatchKeyGuard inside(key);

    Cast cast(Op::entry, device, policy);
    if constexpr (policy == Policy::Promote) (see<Args>(cast, arguments), ...);
    return Op::redispatch(keys - key, converted<Args>(cast, std::forward<Args>(arguments))...);
  }

 private:
  template <class Argument>
  static void see(Cast& cast, const std::remove_reference_t<Argument>& argument) {
    if constexpr (kHoldsTensors<Argument>) cast.see(argument);
  }
};

template <class Op, DeviceType device, Policy policy>
void register_kernel_for() {
  if constexpr (policy != Policy::None) {
    auto* kernel = &Kernel<Op, device, policy, typename Op::Schema>::call;
    Op::entry.set_kernel(c10::autocast_key(device), reinterpret_cast<void*>(kernel), "autocast",
                         "aten/dispatch/AutocastKernel.h");
  }
}

/// Registers what an operator does in torch.autocast on each type of device.
template <class Op, Policy cpu, Policy cuda>
void register_kernels() {
  register_kernel_for<Op, DeviceType::CPU, cpu>();
  register_kernel_for<Op, DeviceType::CUDA, cuda>();
}

}  // namespace at::autocast
