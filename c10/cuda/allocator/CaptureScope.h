// Allocators while a stream is captured into a graph.
#pragma once
#include <cuda_runtime_api.h>

#include "c10/cuda/Runtime.h"

namespace c10::cuda {

/// Lets this thread allocate memory and ask events while it captures a stream: neither becomes part
/// of the graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { C10_CUDA_IGNORE(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { C10_CUDA_IGNORE(cudaThreadExchangeStreamCaptureMode(&mode_)); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

inline bool is_capturing_now(cudaStream_t stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess)
    return status != cudaStreamCaptureStatusNone;

  // The legacy stream cannot be asked while another one is captured; it never is itself.
  cudaGetLastError();
  return false;
}

}  // namespace c10::cuda
