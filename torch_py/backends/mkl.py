"""Intel's library of linear algebra, when this build was linked with it."""

from torch_py import _C


def is_available() -> bool:
    return "mkl" in str(getattr(_C, "_blas", "")).lower()
