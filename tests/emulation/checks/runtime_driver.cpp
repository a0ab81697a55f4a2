// Kernels together with the emulated runtime: device memory, streams, faults that stay.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"
#include "tests/emulation/checks/check.h"
#include "tests/emulation/checks/sample_kernels.h"

using c10::cuda::launch;

namespace {

SIMT_KERNEL ends_early() {
  if (simt::thread_x() == 5) return;
  simt::sync_block();
}

float* device_memory(size_t count) {
  void* address = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&address, count * sizeof(float)));
  return static_cast<float*>(address);
}

void check_values(cudaStream_t stream) {
  const std::vector<float> ones(1000, 1.0f);
  std::vector<float> result(1000);
  float* const a = device_memory(1000);
  float* const out = device_memory(1000);

  C10_CUDA_CHECK(cudaMemcpy(a, ones.data(), 4000, cudaMemcpyHostToDevice));
  launch("add", checks::add, 4, 256, 0, stream, out, a, a, 1000);
  launch("add", checks::add, 4, 256, 0, stream, out, out, a, 1000);
  C10_CUDA_CHECK(cudaMemcpyAsync(result.data(), out, 4000, cudaMemcpyDeviceToHost, stream));
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  for (const float value : result) CHECK(value == 3);

  C10_CUDA_CHECK(cudaFree(a));
  C10_CUDA_CHECK(cudaFree(out));
}

void check_host_pointers_are_refused(cudaStream_t stream) {
  std::vector<float> host(100);
  float* const device = device_memory(100);
  std::string said;
  try {
    launch("add", checks::add, 1, 128, 0, stream, device, host.data(), device, 100);
  } catch (const c10::Error& error) {
    said = error.what();
  }
  CHECK(said.rfind("add: ", 0) == 0);
  C10_CUDA_CHECK(cudaFree(device));
}

void check_reports_are_raised(cudaStream_t stream) {
  const int64_t indices[] = {0, 1, 7, 2};
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&memory, sizeof(indices)));
  C10_CUDA_CHECK(cudaMemcpy(memory, indices, sizeof(indices), cudaMemcpyHostToDevice));
  launch("index", checks::check_indices, 1, 4, 0, stream, simt::Reporter{},
         static_cast<int64_t*>(memory), 3);

  std::string said;
  try {
    c10::cuda::synchronize(stream);
  } catch (const c10::IndexError& error) {
    said = error.what();
  }
  CHECK(said.find("index 7 is out of bounds for dimension with size 3") != std::string::npos);
  c10::cuda::synchronize(stream);
  C10_CUDA_CHECK(cudaFree(memory));
}

void check_faults_stay(cudaStream_t stream) {
  launch("early", ends_early, 1, 64, 0, stream);
  const cudaError_t first = cudaStreamSynchronize(stream);
  CHECK(first == cudaErrorLaunchFailure);
  CHECK(std::strstr(cudaGetErrorString(first), "kernel early: thread (0,0,0)") != nullptr);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check_values(stream);
  check_values(nullptr);
  check_host_pointers_are_refused(stream);
  check_reports_are_raised(stream);
  check_faults_stay(stream);
  std::printf("ok\n");
}
