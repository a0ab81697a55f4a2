// Errors of CUDA's runtime, in its own words and with what helps to find their cause.
#include "c10/cuda/Runtime.h"

#include <cstdlib>
#include <cstring>

#include "c10/cuda/Mailbox.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// Errors of work that ran earlier; CUDA reports them in whichever call comes next.
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

}  // namespace

bool is_blocking() {
  static const bool blocking = [] {
    const char* const text = std::getenv("TORCH_PY_CUDA_BLOCKING");
    return text != nullptr && std::strcmp(text, "1") == 0;
  }();
  return blocking;
}

void synchronize(cudaStream_t stream) {
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  raise_reports();
}

void synchronize_device() {
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  raise_reports();
}

namespace detail {

void throw_error(cudaError_t error, const char* call, const char* file, int line) {
  std::string text = "CUDA error: ";
  text += cudaGetErrorString(error);
  cudaGetLastError();  // not to be found again by the next launch

  text += " (";
  text += call;
  text += ")";
  if (is_late(error) && !is_blocking())
    text += "\nThe work that failed was launched earlier than this call. TORCH_PY_CUDA_BLOCKING=1 "
            "waits for each launch, so that the error is raised where its cause is.";
  throw Error(std::move(text), file, line);
}

}  // namespace detail

}  // namespace c10::cuda
