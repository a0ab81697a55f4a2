// The emulated functions of CUDA's libraries.
#pragma once
#include <span>
#include <string_view>

namespace emulation {

struct NamedFunction {
  std::string_view name;
  void* function;
};

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}

std::span<const NamedFunction> cublaslt_functions();
std::span<const NamedFunction> cudnn_functions();

/// The function with this name of any of the libraries; null if none has it.
void* library_function(const char* name);

}  // namespace emulation
