// Prints what the loaded LAPACK answers; compiled with LOOKS_LIKE_OPENBLAS, is one to load.
#include <cstdio>
#include <exception>

#include "aten/blas/LapackLoader.h"

#ifdef LOOKS_LIKE_OPENBLAS

extern "C" {
__attribute__((visibility("default"))) int scipy_dgesdd_() { return 7; }
__attribute__((visibility("default"))) void scipy_openblas_set_num_threads(int count) {
  std::printf("%d threads, ", count);
}
}

#else

namespace library = at::lapack::library;

int main() {
  if (!library::is_available()) {
    std::printf("none\n");
    return 0;
  }

  library::set_threads(2);
  library::set_threads(2);
  std::printf("%d, ", reinterpret_cast<int (*)()>(library::find("dgesdd_"))());
  try {
    library::find("dgetrf_");
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
}

#endif
