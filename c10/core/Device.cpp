// Names of devices and the parser of device strings.
#include "c10/core/Device.h"

#include <charconv>
#include <iterator>

#include "c10/util/Exception.h"

namespace c10 {

namespace {

// Devices that programs name only to ask whether they are available. They come after DeviceType's
// own and have no backend, so no tensor is ever on one. The first four lie within the bits of
// automatic dtypes (aten/core/Autocast.cpp).
constexpr const char* kNamedOnly[] = {"xpu",    "mps",    "hpu",    "mtia", "ipu",  "xla",
                                      "hip",    "ve",     "fpga",   "maia", "lazy", "vulkan",
                                      "mkldnn", "opengl", "opencl", "ideep"};
constexpr int kNumNames = kNumDeviceTypes + static_cast<int>(std::size(kNamedOnly));

std::string& privateuse1_name() {
  static std::string name = "privateuseone";
  return name;
}

std::string all_names() {
  std::string names;
  for (int i = 0; i < kNumNames; ++i)
    names += (i == 0 ? "" : ", ") + device_type_name(static_cast<DeviceType>(i));
  return names;
}

}  // namespace

std::string device_type_name(DeviceType type) {
  switch (type) {
    case DeviceType::CPU: return "cpu";
    case DeviceType::CUDA: return "cuda";
    case DeviceType::Meta: return "meta";
    case DeviceType::PrivateUse1: return privateuse1_name();
  }

  const int other = static_cast<int>(type) - kNumDeviceTypes;
  return other >= 0 && other < static_cast<int>(std::size(kNamedOnly)) ? kNamedOnly[other]
                                                                       : "unknown";
}

void rename_privateuse1_backend(std::string name) {
  TORCH_CHECK(privateuse1_name() == "privateuseone" || privateuse1_name() == name,
              "rename_privateuse1_backend: the backend is already named '", privateuse1_name(),
              "'");
  privateuse1_name() = std::move(name);
}

Device::Device(std::string_view text) {
  TORCH_CHECK(!text.empty(), "Device string must not be empty");

  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);

  bool known = false;
  for (int i = 0; i < kNumNames && !known; ++i) {
    type = static_cast<DeviceType>(i);
    known = device_type_name(type) == name;
  }
  TORCH_CHECK(known, "Expected one of ", all_names(),
              " device type at start of device string: ", std::string(text));
  if (colon == std::string_view::npos) return;

  // The part after the colon: digits without a leading zero.
  const std::string_view digits = text.substr(colon + 1);

  int value = -1;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  TORCH_CHECK(status == std::errc() && end == digits.data() + digits.size() && value >= 0 &&
                  value < 128 && (digits.size() == 1 || digits[0] != '0'),
              "Invalid device string: '", std::string(text), "'");
  index = static_cast<DeviceIndex>(value);
}

std::string Device::str() const {
  std::string out = device_type_name(type);
  if (has_index()) out += ":" + std::to_string(index);
  return out;
}

void append_to(std::string& out, const Device& device) { out += device.str(); }

}  // namespace c10
