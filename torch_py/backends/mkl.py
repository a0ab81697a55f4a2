"""Whether this build was linked with Intel's MKL."""

from torch_py import _C


def is_available() -> bool:
    return "mkl" in str(getattr(_C, "_blas", "")).lower()
