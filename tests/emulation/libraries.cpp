// Finds emulated functions by name.
#include "emulation/libraries.h"

namespace emulation {

void* library_function(const char* name) {
  for (const auto functions : {cublaslt_functions(), cudnn_functions()}) {
    for (const NamedFunction& named : functions) {
      if (named.name == name) return named.function;
    }
  }
  return nullptr;
}

}  // namespace emulation
