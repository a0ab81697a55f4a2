#pragma once
// Distributes tasks that consist of matrix products over threads, for files that are compiled once
// per instruction set.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Uninitialised memory for one thread, from the allocator that keeps freed blocks.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) : tensor_(empty_tensor({elements}, scalar_type_of<T>, kCPU)) {}
  T* data() const { return static_cast<T*>(tensor_.data()); }

 private:
  Tensor tensor_;
};

/// Calls f(begin, end) for ranges of tasks of `multiplications` each. If every thread gets a task
/// they run in parallel; otherwise they run one after another, and each may use all threads.
template <typename F>
void for_tasks(int64_t tasks, int64_t multiplications, const F& f) {
  if (tasks < get_num_threads() && !in_parallel_region()) {
    if (tasks > 0) f(int64_t{0}, tasks);
  } else {
    parallel_for(0, tasks,
                 std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, multiplications)),
                 f);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
