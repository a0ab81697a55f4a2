// Automatic dtypes: torch.autocast converts the arguments of some operators.
#pragma once
#include <atomic>
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::autocast {

// Note [Automatic dtypes]
// Every tensor has the key AutocastCPU or AutocastCUDA of its device, which threads leave out of
// calls except in torch.autocast. Operators whose entry says `autocast:` have a kernel for it
// (aten/dispatch/AutocastKernel.h); calls of others pass it over. The kernel converts the
// floating-point arguments on that type of device: to the narrow dtype chosen for it
// (lower_precision), to float32, or to the widest among them (promote). Then it leaves the key out
// and calls what is below, so the operators that this calls find their arguments converted. float64
// arguments are left alone. Leaves that require grad (weights) are converted once, until the
// outermost block ends or they change: an optimizer may step inside of a block.

enum class Policy : uint8_t { None, LowerPrecision, Float32, Promote, Refused };

TORCH_PY_API bool is_enabled(c10::DeviceType device);
/// Whether it was enabled, ever and on any thread, for a device type without a dispatch key. Hot
/// paths look here before they ask for each of those.
TORCH_PY_API extern std::atomic<bool> was_enabled_without_key;
TORCH_PY_API void set_enabled(c10::DeviceType device, bool enabled);
TORCH_PY_API ScalarType dtype(c10::DeviceType device);
TORCH_PY_API void set_dtype(c10::DeviceType device, ScalarType dtype);
TORCH_PY_API bool is_cache_enabled();
TORCH_PY_API void set_cache_enabled(bool enabled);
TORCH_PY_API void clear_cache();
/// Enters or leaves a block; returns the number of blocks that the thread is in then.
TORCH_PY_API int enter();
TORCH_PY_API int leave();

/// Converts the arguments of a call that are on one type of device.
class TORCH_PY_API Cast {
 public:
  Cast(const OperatorEntry& entry, c10::DeviceType device, Policy policy)
      : entry_(entry), device_(device), policy_(policy) {}

  /// Policy::Promote looks at all arguments before it converts any.
  void see(const Tensor& argument);
  void see(TensorList arguments);

  Tensor operator()(const Tensor& argument) const;
  std::vector<Tensor> operator()(TensorList arguments) const;

 private:
  bool is_eligible(const Tensor& argument) const;

  const OperatorEntry& entry_;
  c10::DeviceType device_;
  Policy policy_;
  ScalarType widest_ = ScalarType::Undefined;  // of the arguments seen
};

}  // namespace at::autocast
