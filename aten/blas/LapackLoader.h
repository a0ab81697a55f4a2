// LAPACK for builds that are not linked to a library.
#pragma once

#if !defined(TORCH_PY_BLAS_MKL) && !defined(TORCH_PY_BLAS_OPENBLAS)

namespace at::lapack::library {

// Note [A LAPACK that is loaded]
// A build with our own BLAS factorizes by Gauss and Cholesky itself. The first call that needs
// more, such as eigenvalues, loads OpenBLAS: that of the package scipy-openblas32, installed next
// to torch_py or where the build found it, or otherwise the system's LAPACK. TORCH_PY_LAPACK in the
// environment names another library.

/// Whether there is such a library.
bool is_available();

/// Its function of this name in Fortran's spelling, e.g. "sgetrf_".
void* find(const char* name);

/// How many threads its next call may use.
void set_threads(int count);

}  // namespace at::lapack::library

#endif
