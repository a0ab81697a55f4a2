// Emulated graphs: capture, instantiation, replay.
#include "tests/emulation/graphs.h"

namespace emulation {

cudaError_t capture_operation(cudaStream_t, Operation) { return cudaErrorNotSupported; }
cudaError_t refuse_legacy_while_capturing(cudaStream_t) { return cudaSuccess; }
cudaError_t refuse_while_capturing(const char*) { return cudaSuccess; }

}  // namespace emulation
