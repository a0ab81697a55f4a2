// Emulated handles for other processes.
#include "tests/emulation/streams.h"

using namespace emulation;

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return refuse(cudaErrorNotSupported, "not emulated yet");
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return refuse(cudaErrorNotSupported, "not emulated yet");
}

}  // extern "C"
