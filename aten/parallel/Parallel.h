// parallel_for: loops on several threads.
#pragma once

#include <cstdint>
#include <type_traits>

#include "c10/util/Export.h"

// The threads are those of ThreadPool.h; only the BLAS library has others (LibraryThreads.h). A
// loop body is one function, called for a range at a time.

namespace at {

/// The number of threads that a parallel region may use. Initially TORCH_PY_NUM_THREADS,
/// OMP_NUM_THREADS or the number of processors of the process.
TORCH_PY_API int get_num_threads();
TORCH_PY_API void set_num_threads(int count);
/// The index of the calling thread inside the region, 0 outside.
TORCH_PY_API int get_thread_num();
TORCH_PY_API bool in_parallel_region();

namespace internal {

/// A reference to a callable f(begin, end), without the allocation and the header of std::function.
class RangeFunction {
 public:
  template <class Function>
    requires(!std::is_same_v<Function, RangeFunction>)
  RangeFunction(const Function& function)
      : object_(&function), call_([](const void* object, int64_t begin, int64_t end) {
          (*static_cast<const Function*>(object))(begin, end);
        }) {}

  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int64_t);
};

TORCH_PY_API void parallel_for_threads(int64_t begin, int64_t end, int64_t grain_size,
                                       RangeFunction function);

}  // namespace internal

/// Calls f(b, e) on different threads for consecutive ranges that together make up [begin, end),
/// each of at least grain_size elements; there are more ranges than threads. Runs f(begin, end)
/// directly if the range is not longer than grain_size, inside another parallel region, or with one
/// thread. The first exception of any range is rethrown here when those that have begun have ended.
template <class Function>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const Function& f) {
  if (begin >= end) return;
  if (end - begin <= grain_size) return f(begin, end);
  internal::parallel_for_threads(begin, end, grain_size, f);
}

/// The number of elements below which splitting a cheap pointwise loop costs more (about 1 µs) than
/// it gains.
inline constexpr int64_t kDefaultGrainSize = 32768;

}  // namespace at
