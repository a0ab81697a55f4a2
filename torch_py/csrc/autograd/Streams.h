// Streams in a backward pass.
#pragma once
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/core/Stream.h"

namespace torch::autograd {

// Note [Streams of a backward pass]
// A node runs on the stream on which its forward call ran, so that a backward pass overlaps what
// the forward pass overlapped. The stream of a node waits for every gradient that comes from
// another stream, and sums of gradients are computed on the stream of the node that receives them.
// At the end, the current streams of the caller wait for all streams that the pass used. Nodes of
// the CPU have no stream: theirs has the device "cpu". Tested by tests/cuda/test_autograd.py.

inline bool is_on_device(c10::Stream stream) { return !stream.device.is_cpu(); }

/// Whether the backend of a device is in this process. Tensors may stand for some that are not.
TORCH_PY_API bool is_present(c10::Device device);

/// The current stream of an accelerator; for other devices, a stream of the CPU.
TORCH_PY_API c10::Stream current_stream_of(c10::Device device);

/// Lets the later work of `consumer` wait for `grad`, which the current stream of its device
/// computes.
TORCH_PY_API void hand_over(const at::Tensor& grad, c10::Stream consumer);

/// The streams that the nodes of one pass ran on.
class StreamsOfPass {
 public:
  void add(c10::Stream stream);
  /// Lets the calling thread's current streams wait for the work of all of them.
  void join() const;

 private:
  std::vector<c10::Stream> streams_;  // each once
};

}  // namespace torch::autograd
