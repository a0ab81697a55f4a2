// What launches need of the emulated runtime, where that is not there yet.
#pragma once

#include <cstddef>
#include <functional>

#include "emulation/device.h"

enum cudaError { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };
typedef enum cudaError cudaError_t;
extern "C" const char* cudaGetErrorString(cudaError_t error);

namespace emulation {

cudaError_t enqueue(cudaStream_t stream, const char* name, std::function<void()> work);
void readable_argument(void* bytes, size_t count);
cudaError_t refuse(cudaError_t error, const char* text);

}  // namespace emulation
