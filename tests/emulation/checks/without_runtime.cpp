// Launches without the emulated runtime: work runs at once, and addresses are the host's own.
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace {

thread_local const char* explanation = "";

}  // namespace

const char* cudaGetErrorString(cudaError_t) { return explanation; }

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

Mailbox* current_mailbox() {
  static Mailbox mailbox{};
  return &mailbox;
}

DeviceIndex current_device() { return 0; }
bool is_blocking() { return false; }
void wait_for_launch(cudaStream_t) {}

namespace detail {
bool is_late(cudaError_t) { return false; }
void throw_error(cudaError_t, const char* call, const char* file, int line) {
  throw Error(call, file, line);
}
}  // namespace detail

}  // namespace c10::cuda
