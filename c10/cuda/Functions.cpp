// Devices: their number, which one is current, their properties.
#include <memory>
#include <mutex>
#include <vector>

#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// What the first question for the number of devices answered.
struct Presence {
  int count = 0;
  cudaError_t error = cudaSuccess;
  int driver_version = 0;
};

Presence find_devices() {
  Presence found;
  found.error = cudaGetDeviceCount(&found.count);
  if (found.error != cudaSuccess) found.count = 0;
  cudaGetLastError();
  if (cudaDriverGetVersion(&found.driver_version) != cudaSuccess) found.driver_version = 0;
  return found;
}

const Presence& presence() {
  static const Presence found = find_devices();
  return found;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The runtime keeps the current device of a thread too; asking it costs a call per operator.
thread_local DeviceIndex selected = 0;

struct KnownProperties {
  std::once_flag once;
  cudaDeviceProp value;
};

KnownProperties& known_properties(DeviceIndex device) {
  static std::vector<KnownProperties>& all =
      *new std::vector<KnownProperties>(static_cast<size_t>(device_count()));
  return all[static_cast<size_t>(device)];
}

void check_index(DeviceIndex device) {
  const int count = device_count();
  TORCH_CHECK(count > 0, absence_reason());
  TORCH_CHECK(device >= 0 && device < count,
              "CUDA error: invalid device ordinal: cuda:", static_cast<int>(device), ", of ", count,
              " device(s)");
}

}  // namespace

int device_count() noexcept { return presence().count; }

std::string absence_reason() {
  const Presence& found = presence();
  if (found.count > 0) return "";

  std::string text = "No CUDA device can be used: ";
  text += cudaGetErrorString(found.error);
  text += ". ";
  if (found.driver_version == 0)
    return text +
           "There is no NVIDIA driver (libcuda.so.1) on this system; install one from "
           "https://www.nvidia.com/drivers that supports CUDA " +
           version_text(CUDART_VERSION) + ".";
  if (found.error == cudaErrorInsufficientDriver || found.driver_version < CUDART_VERSION)
    return text + "The NVIDIA driver supports CUDA " + version_text(found.driver_version) +
           ", this library needs " + version_text(CUDART_VERSION) +
           "; update the driver from https://www.nvidia.com/drivers.";
  return text + "The driver finds no GPU; CUDA_VISIBLE_DEVICES may hide them.";
}

DeviceIndex current_device() {
  if (C10_UNLIKELY(device_count() == 0)) check_index(0);
  return selected;
}

DeviceIndex exchange_device(DeviceIndex device) {
  const DeviceIndex before = selected;
  if (device == before && device_count() > 0) return before;

  check_index(device);
  C10_CUDA_CHECK(cudaSetDevice(device));
  selected = device;
  return before;
}

const cudaDeviceProp& device_properties(DeviceIndex device) {
  check_index(device);
  KnownProperties& known = known_properties(device);
  std::call_once(known.once,
                 [&] { C10_CUDA_CHECK(cudaGetDeviceProperties(&known.value, device)); });
  return known.value;
}

const cudaDeviceProp& device_properties() { return device_properties(current_device()); }

}  // namespace c10::cuda
