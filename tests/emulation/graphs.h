// Emulated graphs: recorded operations and the edges between them.
#pragma once
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tests/emulation/streams.h"

namespace emulation {

struct Node {
  Operation operation;
  std::vector<size_t> after;  // indices of nodes, all smaller than its own
};

/// A recording in progress.
struct Capture {
  uint64_t id = 0;
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool lost = false;   // an illegal call happened: only the end of the capture is allowed
  bool ended = false;  // events may still refer to it
  std::vector<Node> nodes;
  std::map<cudaStream_t, std::vector<size_t>> frontier;  // what the next node of a stream follows
};

/// Adds an operation to the graph that the stream records.
cudaError_t capture_operation(cudaStream_t stream, Operation operation);
/// Lets the next node of a stream follow the nodes that an event marks; the stream takes part in
/// the recording from now on.
cudaError_t capture_wait(cudaStream_t stream, const std::shared_ptr<Capture>& capture,
                         const std::vector<size_t>& nodes);
/// Marks the recording as lost and explains why.
cudaError_t lose(Capture& capture, cudaError_t error, const char* what);
/// cudaErrorStreamCaptureImplicit where the legacy stream would wait for a stream that records.
cudaError_t refuse_legacy_while_capturing(cudaStream_t stream);

}  // namespace emulation
