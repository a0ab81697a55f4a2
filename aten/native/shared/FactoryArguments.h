#pragma once
// Arguments that all functions with a new tensor as result have.
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {

inline void check_strided(std::optional<Layout> layout, const char* op) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
}

/// The device of a new tensor, by default the CPU; "cpu:0" becomes "cpu", so that their tensors
/// compare as on one device.
inline Device resolved(std::optional<Device> device) {
  return device.value_or(kCPU).is_cpu() ? kCPU : *device;
}

inline Tensor uninitialised(const char* op, IntArrayRef size, ScalarType dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  check_strided(layout, op);
  TORCH_CHECK(!pin_memory.value_or(false), op,
              "(): pinned memory needs an accelerator, and none is available");

  return empty_tensor(size, dtype, resolved(device));
}

}  // namespace at::native
