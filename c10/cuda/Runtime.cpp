// Errors of CUDA's runtime, in its own words and with what helps to find their cause.
#include "c10/cuda/Runtime.h"

#include <cstdlib>
#include <cstring>

#include "c10/cuda/Launch.h"
#include "c10/cuda/Mailbox.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

bool is_of_capture(cudaError_t error) {
  return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

std::string advice_for_late_errors() {
  std::string text = "\nThe process can use this device no longer.";
  const std::string names = suspects();
  if (!names.empty()) text += " Launched since the last call that found no error: " + names + ".";
  if (!is_blocking())
    text += " TORCH_PY_CUDA_BLOCKING=1 waits for each launch, so that the error is raised where "
            "its cause is.";
  return text;
}

}  // namespace

bool is_blocking() {
  static const bool blocking = [] {
    const char* const text = std::getenv("TORCH_PY_CUDA_BLOCKING");
    return text != nullptr && std::strcmp(text, "1") == 0;
  }();
  return blocking;
}

void synchronize(cudaStream_t stream) {
  const uint64_t latest = latest_launch();
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  mark_good(stream, latest);
  raise_reports();
}

void wait_for_launch(cudaStream_t stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &capturing));
  if (capturing == cudaStreamCaptureStatusNone) synchronize(stream);
}

void synchronize_device() {
  const uint64_t latest = latest_launch();
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  mark_all_good(latest);
  raise_reports();
}

namespace detail {

bool is_late(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

void throw_error(cudaError_t error, const char* call, const char* file, int line) {
  std::string text = "CUDA error: ";
  text += cudaGetErrorString(error);
  cudaGetLastError();  // not to be found again by the next launch

  text += " (";
  text += call;
  text += ")";
  if (is_late(error)) text += advice_for_late_errors();
  if (is_of_capture(error))
    text += "\nA graph is being captured. What waits for the device, allocates outside of the "
            "graph's pool or copies memory that is not pinned cannot be part of it.";
  throw Error(std::move(text), file, line);
}

}  // namespace detail

}  // namespace c10::cuda
