// Kernels with one thread for each index: what each does is a functor.
#pragma once
#include <algorithm>
#include <type_traits>

#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"
#include "c10/util/Export.h"

namespace at::native::cuda {

inline constexpr int kPerIndexThreads = 256;
/// Blocks of one launch; more indices are left to further turns of each thread.
inline constexpr int64_t kMostPerIndexBlocks = int64_t{1} << 22;

template <class F>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kPerIndexThreads)
    per_index_kernel(int64_t n, F functor, simt::Reporter reporter) {
  const int64_t step = static_cast<int64_t>(simt::grid_dim_x()) * kPerIndexThreads;
  int64_t index = static_cast<int64_t>(simt::block_x()) * kPerIndexThreads + simt::thread_x();

  for (; index < n; index += step) {
    if constexpr (std::is_invocable_v<F, int64_t, simt::Reporter>) {
      functor(index, reporter);
    } else {
      functor(index);
    }
  }
}

/// Calls functor(i), or functor(i, reporter), for i in [0, n) in the current stream. The functor is
/// copied to the device, and its operator() is a SIMT_DEVICE function.
template <class F>
void per_index(const char* name, int64_t n, const F& functor) {
  static_assert(std::is_trivially_copyable_v<F>, "functors are copied byte by byte");
  if (n == 0) return;

  const int64_t blocks = std::min((n - 1) / kPerIndexThreads + 1, kMostPerIndexBlocks);
  c10::cuda::launch(name, &per_index_kernel<F>, dim3(static_cast<unsigned>(blocks)),
                    dim3(kPerIndexThreads), 0, c10::cuda::current_stream(), n, functor,
                    simt::Reporter{});
}

}  // namespace at::native::cuda
