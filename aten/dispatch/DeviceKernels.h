#pragma once
// The kernels of one operator by device, behind a wrapper that is the same for all devices.
#include "aten/dispatch/HostFallback.h"
#include "c10/core/DeviceGuard.h"
#include "c10/dispatch/OperatorEntry.h"
#include "c10/util/Exception.h"

namespace at {

/// Tells the allocator that the current stream of its device uses a tensor's memory; arguments that
/// are not tensors have none.
TORCH_PY_API void note_use(const Tensor& tensor);
TORCH_PY_API void note_use(TensorList tensors);
TORCH_PY_API void note_use(const TensorIterator& iter);
template <class T>
void note_use(const T&) {}

// Note [Calls without elements]
// A call on meta tensors is refused where the same call on the CPU is: a program that is recorded
// without data would otherwise leave the `try` around the call, and fail later. What wrappers and
// shape rules check is the same for every device. What a kernel refuses is a dtype that it has no
// loop for, and a number that its dtype cannot hold:
// - an iterator over meta tensors has no elements, so the CPU's kernel runs, checks and loops over
//   nothing;
// - kernels that are given tensors would read them. For those, ElementsCheck compares the dtype of
//   the first tensor with the dtypes that the entry claims, and converts numbers to it.
// What else a kernel refuses belongs in the entry: as a condition under `requires`, or as the
// function that its `Meta` names.
// `python -m tools.fuzz --meta` compares both devices.

/// Finds the dtype and the numbers among a kernel's arguments.
class TORCH_PY_API ElementsCheck {
 public:
  void see(const Tensor& tensor);
  void see(TensorList tensors);
  void see(const Scalar& number) { numbers_.push_back(&number); }
  void see(const std::optional<Scalar>& number);
  template <class T>
  void see(const T&) {}

  /// Throws what the kernel of the operator would.
  void check(const c10::OperatorEntry& entry) const;

 private:
  std::optional<ScalarType> dtype_;
  bool has_empty_ = false;  // then most kernels return at once
  SmallVector<const Scalar*, 4> numbers_;
};

template <class Signature>
class DeviceKernels;

/// Called with a device and the arguments of the kernel. A device without a kernel of its own runs
/// the CPU's on copies: HostFallback.
/// Objects are constructed while the core library is loaded; a backend's library sets its kernels
/// when it is loaded later.
template <class Result, class... Args>
class DeviceKernels<Result(Args...)> {
 public:
  using Kernel = Result (*)(Args...);

  /// Bit k of `written` says that the kernel writes to argument k.
  /// `meta` checks what follows from no structure.
  DeviceKernels(const c10::OperatorEntry& entry, Kernel cpu, uint32_t written,
                Kernel meta = nullptr)
      : cpu_(cpu), meta_(meta), entry_(entry), written_(written) {}
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;

  void set(c10::DeviceType device, Kernel kernel) { others_[static_cast<int>(device)] = kernel; }

  Result operator()(c10::Device device, Args... arguments) const {
    if (C10_LIKELY(device.is_cpu())) return cpu_(arguments...);
    return elsewhere(device, arguments...);
  }

 private:
  C10_NOINLINE Result elsewhere(c10::Device device, Args... arguments) const {
    if (device.is_meta()) return without_elements(arguments...);

    const c10::DeviceGuard guard(device);
    if (c10::uses_several_streams.load(std::memory_order_relaxed)) (note_use(arguments), ...);
    if (const Kernel kernel = others_[static_cast<int>(device.type)]) return kernel(arguments...);

    TORCH_CHECK_NOT_IMPLEMENTED(c10::is_accelerator(device), entry_.name(),
                                " has no kernel for device '", device, "'");
    return run_on_host<Result, Args...>(entry_.name(), device, cpu_, written_,
                                        std::index_sequence_for<Args...>(), arguments...);
  }

  Result without_elements(Args... arguments) const {
    if constexpr ((std::is_same_v<Args, TensorIterator&> || ...)) {
      return cpu_(arguments...);
    } else {
      ElementsCheck found;
      (found.see(arguments), ...);
      found.check(entry_);
      return meta_ != nullptr ? meta_(arguments...) : Result();
    }
  }

  Kernel cpu_;
  Kernel meta_;
  Kernel others_[c10::kNumDeviceTypes] = {};  // by device type
  const c10::OperatorEntry& entry_;
  uint32_t written_;
};

}  // namespace at
