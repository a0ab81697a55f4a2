// Runtime: checked calls of CUDA's runtime, and the state that every part of the backend needs.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "c10/core/Device.h"
#include "c10/util/Export.h"

/// Throws c10::Error with CUDA's own words unless `call` returns cudaSuccess.
#define C10_CUDA_CHECK(call)                                                        \
  do {                                                                              \
    const cudaError_t c10_cuda_status = (call);                                     \
    if (C10_UNLIKELY(c10_cuda_status != cudaSuccess))                               \
      ::c10::cuda::detail::throw_error(c10_cuda_status, #call, __FILE__, __LINE__); \
  } while (0)

/// For destructors: an error is left for the next call that can throw.
#define C10_CUDA_IGNORE(call) (static_cast<void>(call), static_cast<void>(cudaGetLastError()))

namespace c10::cuda {

/// The stream that operators of the calling thread use on its current device.
TORCH_PY_API cudaStream_t current_stream();
/// Of the calling thread's current device; asked once per device.
TORCH_PY_API const cudaDeviceProp& device_properties();
TORCH_PY_API const cudaDeviceProp& device_properties(DeviceIndex device);

/// The number of devices; 0 without a driver or a GPU.
int device_count() noexcept;
/// Why device_count() is 0 and what to do about it; empty otherwise.
std::string absence_reason();
/// The current device of the calling thread; throws without devices.
DeviceIndex current_device();
/// Selects a device and returns the one that was selected before.
DeviceIndex exchange_device(DeviceIndex device);

/// Waits, and raises what kernels have reported meanwhile: see Mailbox.h.
void synchronize(cudaStream_t stream);
void synchronize_device();

/// Whether TORCH_PY_CUDA_BLOCKING=1: each launch is waited for, so that an error names its
/// operator.
bool is_blocking();
/// Waits for the stream, unless it records a graph.
void wait_for_launch(cudaStream_t stream);

namespace detail {
/// Whether it is an error of work that ran earlier, which any call may return.
bool is_late(cudaError_t error);
[[noreturn]] TORCH_PY_API void throw_error(cudaError_t error, const char* call, const char* file,
                                           int line);
}  // namespace detail

/// Selects a device until the end of the scope.
class SelectedDevice {
 public:
  explicit SelectedDevice(DeviceIndex device) : before_(exchange_device(device)) {}
  SelectedDevice(const SelectedDevice&) = delete;
  SelectedDevice& operator=(const SelectedDevice&) = delete;
  ~SelectedDevice() { exchange_device(before_); }

 private:
  DeviceIndex before_;
};

}  // namespace c10::cuda
