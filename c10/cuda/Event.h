// Event: CUDA events as DeviceHooks hands them out.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "c10/core/Stream.h"

namespace c10::cuda {

cudaEvent_t create_event(DeviceIndex device, bool timing, bool blocking, bool interprocess);
void record_event(cudaEvent_t event, Stream stream);
void wait_event(cudaEvent_t event, Stream stream);
bool query_event(cudaEvent_t event);
void synchronize_event(cudaEvent_t event);
float elapsed_time(cudaEvent_t start, cudaEvent_t end);
std::string event_ipc_handle(cudaEvent_t event);
cudaEvent_t open_event(DeviceIndex device, const std::string& ipc_handle);

}  // namespace c10::cuda
