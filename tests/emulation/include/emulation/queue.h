// What emulated kernel launches and libraries need of the emulated runtime.
#pragma once
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "emulation/host.h"

namespace emulation {

/// Thrown by work: becomes the sticky error of its device.
struct Fault : std::runtime_error {
  Fault(cudaError_t error, const std::string& text) : std::runtime_error(text), error(error) {}
  cudaError_t error;
};

/// Appends work to a stream. It runs when somebody waits for it, once per replay where a graph is
/// being captured: so it owns its arguments and leaves them as they were. An exception other than
/// Fault counts as cudaErrorLaunchFailure. Refused for a stream of another device than the
/// current one. `name` must outlive the process's work.
cudaError_t enqueue(cudaStream_t stream, const char* name, std::function<void()> work);
inline cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  return enqueue(stream, "kernel", std::move(work));
}

/// Makes device addresses among the `bytes` of an argument readable ones, in place. The blocks
/// they belong to count as used by the next work that this thread puts into a stream, which is
/// refused if one of them is a host address that is not pinned.
void readable_argument(void* bytes, size_t count);

/// The readable alias of a device address; other addresses as they are.
void* readable(const void* address);
template <class T>
T* readable(T* address) {
  return static_cast<T*>(readable(static_cast<const void*>(address)));
}

/// Sets the calling thread's last error, explained by `text`, which cudaGetErrorString shows.
cudaError_t refuse(cudaError_t error, const char* text);

}  // namespace emulation
