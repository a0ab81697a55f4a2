// The threads of the BLAS library, which are OpenMP's.
#pragma once

namespace at::internal {

/// The number of threads that the BLAS library may use in regions of its own: 1 inside our regions.
int library_threads();

/// Tells OpenMP how many threads the regions of the calling thread may have.
void set_library_threads(int count);

}  // namespace at::internal
