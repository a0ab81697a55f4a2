// Lends the thread pool to libtorch_py_blas.so, which is below this library and cannot call it.
#include "aten/blas/Blas.h"
#include "aten/parallel/LibraryThreads.h"
#include "aten/parallel/Parallel.h"
#include "c10/cpu/CpuInfo.h"

namespace at {

namespace {

/// A loop body and its range function, as the BLAS library passes them.
struct Range {
  const void* function;
  void (*call)(const void*, int64_t, int64_t);
};

[[maybe_unused]] const bool lent = [] {
  blas::Runtime runtime;

  runtime.threads = internal::library_threads;
  runtime.in_parallel_region = in_parallel_region;
  runtime.parallel_for = [](int64_t begin, int64_t end, int64_t grain_size, const void* function,
                            void (*call)(const void*, int64_t, int64_t)) {
    const Range range{function, call};
    parallel_for(begin, end, grain_size,
                 [&range](int64_t b, int64_t e) { range.call(range.function, b, e); });
  };

  // A wrong value of TORCH_PY_CPU_CAPABILITY throws here, while the library is loaded; its first
  // user reports it.
  try {
    runtime.capability = static_cast<int>(c10::cpu_capability());
  } catch (...) {
    runtime.capability = 0;
  }
  runtime.multiplies_bfloat16 = c10::cpu_features().avx512_bf16;
  runtime.multiplies_bytes = c10::cpu_features().avx512_vnni;

  blas::set_runtime(runtime);
  return true;
}();

}  // namespace
}  // namespace at
