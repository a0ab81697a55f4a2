#pragma once
// How pieces of work that are matrix products are given to threads. Included by files compiled once
// per instruction set.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Memory for one thread, of no certain contents, from the allocator that keeps freed blocks.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) : tensor_(empty_tensor({elements}, scalar_type_of<T>, kCPU)) {}
  T* data() const { return static_cast<T*>(tensor_.data()); }

 private:
  Tensor tensor_;
};

/// Calls f(begin, end) for ranges of tasks of so many multiplications: on several threads if there
/// is a task for each; otherwise one after the other, and each uses the threads itself.
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
