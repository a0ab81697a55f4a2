// Devices: a type (CPU, CUDA, ...) and an index.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "c10/util/Export.h"

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 2, PrivateUse1 = 3 };
constexpr int kNumDeviceTypes = 4;

using DeviceIndex = int8_t;

/// Where a tensor's bytes are. Index -1 means "the current device of that type".
struct Device {
  DeviceType type = DeviceType::CPU;
  DeviceIndex index = -1;

  constexpr Device() = default;
  constexpr Device(DeviceType type, DeviceIndex index = -1) : type(type), index(index) {}
  /// Parses "cpu", "cuda:1", "meta"; throws c10::Error (RuntimeError) as torch.device does.
  TORCH_PY_API explicit Device(std::string_view text);

  constexpr bool is_cpu() const { return type == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type == DeviceType::CUDA; }
  constexpr bool is_meta() const { return type == DeviceType::Meta; }
  constexpr bool has_index() const { return index >= 0; }
  TORCH_PY_API std::string str() const;

  friend constexpr bool operator==(const Device& a, const Device& b) {
    return a.type == b.type && a.index == b.index;
  }
};

constexpr Device kCPU{DeviceType::CPU};
constexpr Device kMeta{DeviceType::Meta};

/// Lower-case name as Python prints it ("cpu"); for PrivateUse1 the name that its backend
/// registered.
TORCH_PY_API std::string device_type_name(DeviceType type);
/// Names the out-of-tree backend; may be called once.
TORCH_PY_API void rename_privateuse1_backend(std::string name);

TORCH_PY_API void append_to(std::string& out, const Device& device);

}  // namespace c10
