// The emulated functions of CUDA's libraries.
#pragma once

namespace emulation {

/// The function with this name of any of the libraries; null if none has it.
void* library_function(const char* name);

}  // namespace emulation
