"""Which library multiplies matrices on the CPU.

The build has a BLAS library (see `library`) and products of its own. The first large product of a dtype
lets both multiply 256 x 256 matrices and the process keeps the library only if it is 15 % faster. Small
products, those of reduced floats and integers, and all under `torch.use_deterministic_algorithms(True)`
are torch_py's own. The environment variable TORCH_PY_BLAS_BACKEND overrides this: `own`, the library's
name, or `builtin`, with which factorizations and Fourier transforms are torch_py's own, too.
"""

from __future__ import annotations

from typing import NamedTuple

from torch_py import _C


class Choice(NamedTuple):
    """Who multiplies large matrices of a dtype, why, and the GFLOP/s that both reached on one thread.

    A figure is 0 where there is nothing to measure.
    """

    dtype: str
    backend: str
    reason: str
    own: float
    library: float


def library() -> str:
    """The library of this build in use: mkl or openblas, or builtin for none."""
    return str(_C._blas)


def choice() -> list[Choice]:
    """The choice for each dtype that the library serves; measures those that have not been yet.

    Example:
        >>> [row.dtype for row in torch.backends.blas.choice()]
        ['float32', 'float64', 'complex64', 'complex128']
    """
    return [Choice(*row) for row in _C._blas_choices()]
