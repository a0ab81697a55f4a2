"""Whether this build is linked with Intel MKL."""

from torch_py import _C


def is_available() -> bool:
    return bool(_C._blas == "mkl")
