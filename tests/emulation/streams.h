// Emulated streams: queues of work that run when somebody waits.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tests/emulation/memory.h"
#include "tests/emulation/state.h"

namespace emulation {

struct Capture;  // a graph that is being recorded: graphs.h

/// A point in the work of a stream; done when all work before it has run.
struct Mark {
  bool done = false;
  double milliseconds = 0;        // when it was done
  cudaStream_t stream = nullptr;  // holds the operation; not to be used once it is done
  int device = 0;
  std::function<bool()> arrived;  // asks another process; null for work of this one
};
using MarkPtr = std::shared_ptr<Mark>;

struct Operation {
  const char* name = "";
  std::function<void()> run = {};   // null: only waits
  std::vector<MarkPtr> after = {};  // what must be done before, in other streams
  std::vector<Use> uses = {};
  MarkPtr mark = {};
};

/// The stream that a handle names, with the legacy stream of the current device for 0; null for
/// what is not a stream.
cudaStream_t find_stream(cudaStream_t handle);

/// Appends an operation, or adds it to the graph that the stream records.
cudaError_t append(cudaStream_t stream, Operation operation);
/// Runs whatever must run until the mark is done. Fails where that cannot happen.
cudaError_t run_until(const MarkPtr& mark);
/// Runs one operation that brings the mark nearer; false if no operation can.
bool run_towards(const MarkPtr& mark);
/// Runs all work of a device.
cudaError_t drain(Device& device);
cudaError_t drain(cudaStream_t stream);

/// Blocks that the next operation of this thread uses, and what is wrong with its arguments.
struct PendingUses {
  std::vector<Use> uses;
  std::string problem;
};
PendingUses& pending_uses();

/// cudaErrorStreamCaptureUnsupported where the calling thread may not do what could wait for or
/// disturb the work of others, because a capture forbids it. Such captures are lost.
cudaError_t refuse_while_capturing(const char* what);
/// The same for a call that concerns a stream, and one that concerns all of a device: these are
/// forbidden in every mode of capture.
cudaError_t refuse_while_capturing(cudaStream_t stream, const char* what);
cudaError_t refuse_while_capturing(const Device& device, const char* what);

}  // namespace emulation

struct CUstream_st {
  int device = 0;
  bool blocking = false;  // waits for the legacy stream, and is waited for by it
  int priority = 0;
  uint64_t id = 0;
  std::deque<emulation::Operation> queue;
  emulation::MarkPtr last;                      // behind the last operation; null before the first
  std::shared_ptr<emulation::Capture> capture;  // null unless the stream records a graph
};
