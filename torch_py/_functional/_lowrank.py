"""Approximations of low rank by random projections (Halko, Martinsson,
Tropp, Finding Structure with Randomness, 2009)."""

from __future__ import annotations

from typing import Any

from torch_py import linalg
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]


def _adjoint(tensor: Any) -> Any:
    transposed = tensor.transpose(-2, -1)
    return transposed.conj() if tensor.is_complex() else transposed


def _basis_of_range(A: Any, q: int, niter: int) -> Any:
    """Orthonormal columns that nearly span the range of A: q random
    combinations of its columns, sharpened by power iterations."""
    sketch = _torch.randn([A.shape[-1], q], dtype=A.dtype, device=A.device)
    Q = linalg.qr(A @ sketch).Q
    for _ in range(niter):
        Q = linalg.qr(_adjoint(A) @ Q).Q
        Q = linalg.qr(A @ Q).Q
    return Q


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S, V with A ~ U diag(S) V^H for `q` singular values, of A - M where `M` is given.

    Random; exact where the rank is at most `q`.
    """
    matrix: Any = A if M is None else A - M
    count = 6 if q is None else q
    iterations = 2 if niter is None else niter
    wide = matrix.shape[-2] < matrix.shape[-1]
    work = _adjoint(matrix) if wide else matrix
    Q = _basis_of_range(work, count, iterations)
    U, S, Vh = linalg.svd(_adjoint(Q) @ work, full_matrices=False)
    left = Q @ U
    right = _adjoint(Vh)
    return (right, S, left) if wide else (left, S, right)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """The `q` main components of rows of A: U, S, V as of `svd_lowrank`,
    after subtraction of the mean row if `center`."""
    matrix: Any = A
    if not (matrix.is_floating_point() or matrix.is_complex()):
        raise ValueError(f"input must have dtype of floating point, but got dtype: {matrix.dtype}")
    m, n = matrix.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(matrix - matrix.mean(-2, keepdim=True) if center else matrix, q, niter)
