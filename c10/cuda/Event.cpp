// CUDA events: points in the work of streams.
#include "c10/cuda/Event.h"

#include <cstring>

#include "c10/cuda/Mailbox.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

cudaEvent_t create_event(DeviceIndex device, bool timing, bool blocking, bool interprocess) {
  unsigned int flags = cudaEventDefault;
  if (!timing) flags |= cudaEventDisableTiming;
  if (blocking) flags |= cudaEventBlockingSync;
  if (interprocess) flags |= cudaEventInterprocess;

  const SelectedDevice guard(device);
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
  return event;
}

void record_event(cudaEvent_t event, Stream stream) {
  const SelectedDevice guard(stream.device.index);
  C10_CUDA_CHECK(cudaEventRecord(event, native(stream)));
}

void wait_event(cudaEvent_t event, Stream stream) {
  const SelectedDevice guard(stream.device.index);
  C10_CUDA_CHECK(cudaStreamWaitEvent(native(stream), event, 0));
}

bool query_event(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  C10_CUDA_CHECK(status);
  return true;
}

void synchronize_event(cudaEvent_t event) {
  C10_CUDA_CHECK(cudaEventSynchronize(event));
  raise_reports();
}

float elapsed_time(cudaEvent_t start, cudaEvent_t end) {
  float milliseconds = 0;
  C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  return milliseconds;
}

std::string event_ipc_handle(cudaEvent_t event) {
  cudaIpcEventHandle_t handle;
  C10_CUDA_CHECK(cudaIpcGetEventHandle(&handle, event));
  return std::string(reinterpret_cast<const char*>(&handle), sizeof handle);
}

cudaEvent_t open_event(DeviceIndex device, const std::string& ipc_handle) {
  cudaIpcEventHandle_t handle;
  TORCH_CHECK(ipc_handle.size() == sizeof handle, "expected an event handle of ", sizeof handle,
              " bytes, got ", ipc_handle.size());
  std::memcpy(&handle, ipc_handle.data(), sizeof handle);

  const SelectedDevice guard(device);
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaIpcOpenEventHandle(&event, handle));
  return event;
}

}  // namespace c10::cuda
