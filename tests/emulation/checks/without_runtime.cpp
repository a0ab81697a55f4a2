// Launches without the emulated runtime: work runs at once, and addresses are the host's own.
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"

namespace {

thread_local const char* explanation = "";

}  // namespace

const char* cudaGetErrorString(cudaError_t) { return explanation; }

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

namespace emulation {

cudaError_t enqueue(cudaStream_t, const char*, std::function<void()> work) {
  work();
  return cudaSuccess;
}

void readable_argument(void*, size_t) {}

cudaError_t refuse(cudaError_t error, const char* text) {
  explanation = text;
  return error;
}

}  // namespace emulation

namespace c10::cuda {

void raise_reports() {}

Mailbox* current_mailbox() {
  static Mailbox mailbox{};
  return &mailbox;
}

bool is_blocking() { return false; }
void wait_for_launch(cudaStream_t) {}

}  // namespace c10::cuda
