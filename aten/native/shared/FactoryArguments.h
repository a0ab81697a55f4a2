#pragma once
// Checks of the arguments of factory functions (layout, device, pin_memory).
#include <optional>

#include "aten/core/PinnedMemory.h"
#include "aten/core/Tensor.h"
#include "c10/core/DeviceHooks.h"

namespace at::native {

inline void check_strided(std::optional<Layout> layout, const char* op) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
}

/// The device of a new tensor, the CPU by default. "cpu:0" becomes "cpu" and "cuda" the current
/// device, so that devices compare equal.
inline Device resolved(std::optional<Device> device) {
  return device.value_or(kCPU).is_cpu() ? kCPU : c10::resolved(*device);
}

/// A new tensor whose elements are not set, after checking the arguments.
inline Tensor uninitialised(const char* op, IntArrayRef size, ScalarType dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  check_strided(layout, op);
  if (pin_memory.value_or(false)) {
    TORCH_CHECK(!device.has_value() || device->is_cpu(), op,
                "(): only dense CPU tensors can be pinned, got device=", *device);
    return empty_pinned(size, contiguous_strides(size), dtype);
  }
  return empty_tensor(size, dtype, resolved(device));
}

}  // namespace at::native
