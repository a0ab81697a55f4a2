// Starting a kernel in the emulation: c10/cuda/Launch.h is what kernels' callers include.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "emulation/device.h"
#include "emulation/queue.h"

namespace emulation {

/// Of a launch. `name` lives for ever.
struct Grid {
  const char* name;
  dim3 size;
  dim3 block;
  size_t dynamic_shared;
  const void* function;  // tells kernels apart
};

/// A kernel with its arguments; `call` runs it for the thread that `self` names.
struct KernelCall {
  void (*call)(const void* kernel);
  const void* kernel;
};

/// Runs all blocks, on the calling thread unless more threads were asked for, and returns when
/// they are done. Throws KernelError (grid.h) for the first fault found.
void run_grid(const Grid& grid, const KernelCall& kernel);

/// What CUDA would refuse about the launch; null if nothing.
const char* problem_with_grid(const Grid& grid);

/// Puts a call of `kernel` for every thread of the grid into the stream.
template <class F>
cudaError_t launch(const Grid& grid, cudaStream_t stream, F kernel) {
  if (const char* problem = problem_with_grid(grid))
    return refuse(cudaErrorInvalidConfiguration, problem);

  return enqueue(stream, grid.name, [grid, kernel = std::move(kernel)] {
    const auto call = [](const void* function) { (*static_cast<const F*>(function))(); };
    run_grid(grid, {call, &kernel});
  });
}

}  // namespace emulation
