// The emulated runtime's shared state: its lock, its devices, and how a call reports an error.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulation/queue.h"

namespace emulation {

/// One lock for everything: calls are short, and work runs in the thread that waits for it.
/// Recursive, because emulated libraries call the runtime from within their work.
std::recursive_mutex& mutex();

struct Device {
  int index = 0;
  size_t total_memory = 0;  // bytes
  size_t used_memory = 0;   // bytes, of all pools
  std::set<int> peers;      // whose memory its kernels may use
  cudaStream_t legacy = nullptr;
  cudaStream_t per_thread = nullptr;
  std::vector<cudaStream_t> streams;  // all that are not destroyed, the two above included
  cudaError_t fault = cudaSuccess;    // sticky: of work that failed
  std::string fault_text;
};

std::vector<Device>& devices();
Device& current_device();
/// The number in an environment variable, `otherwise` without it.
uint64_t setting(const char* name, uint64_t otherwise);

/// `refuse` for texts that are put together.
cudaError_t refuse(cudaError_t error, const std::string& text);
/// Sets the last error of the thread, if it is one.
cudaError_t note(cudaError_t error);
/// Whether the thread runs a function of cudaLaunchHostFunc, which must not call CUDA.
bool& in_host_function();
/// The sticky error of the current device, or that of a process that was forked after CUDA began.
cudaError_t state_error();
/// Makes `text` the sticky error of a device, unless it has one already.
void fault(int device, cudaError_t error, const std::string& text);

/// Frame of every call: holds the lock, fails at once where the state is already an error, and
/// notes what it returns.
template <class Body>
cudaError_t call(Body body) {
  const std::lock_guard lock(mutex());
  if (const cudaError_t error = state_error()) return note(error);
  return note(body());
}

}  // namespace emulation
