"""The linear algebra extension of the array API standard."""

from __future__ import annotations

from typing import Any

from torch_py._array_api._dtypes import promoted
from torch_py._array_api._products import matmul, matrix_transpose, tensordot, vecdot
from torch_py._array_api._reductions import _sum_dtype, axes_of
from torch_py._C import _linalg, _torch
from torch_py._tensor import Tensor

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    return _linalg.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return _linalg.cross(*promoted("cross", x1, x2), dim=axis)


def det(x: Tensor, /) -> Tensor:
    return _linalg.det(x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    return _torch.diagonal(x, offset, -2, -1)


def eigh(x: Tensor, /) -> tuple[Tensor, Tensor]:
    return _linalg.eigh(x)


def eigvalsh(x: Tensor, /) -> Tensor:
    return _linalg.eigvalsh(x)


def inv(x: Tensor, /) -> Tensor:
    return _linalg.inv(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    return _linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    return _linalg.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    return _torch.outer(*promoted("outer", x1, x2))


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    return _linalg.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    return _linalg.qr(x, mode)


def slogdet(x: Tensor, /) -> tuple[Tensor, Tensor]:
    return _linalg.slogdet(x)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """`x2` is a vector when it has one dimension and else matrices, never
    vectors of a batch, which torch would take it for."""
    left, right = promoted("solve", x1, x2)
    if right.dim() > 1:
        right = right.reshape((1,) * (left.dim() - right.dim()) + tuple(right.shape))
        return _linalg.solve(left, right)
    return _linalg.solve(left, right.unsqueeze(-1)).squeeze(-1)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    return _linalg.svd(x, full_matrices)


def svdvals(x: Tensor, /) -> Tensor:
    return _linalg.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return diagonal(x, offset=offset).sum(-1, dtype=_sum_dtype(x, dtype))


def vector_norm(x: Tensor, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    if not (axes := axes_of(x, axis)):
        return _linalg.vector_norm(x.unsqueeze(-1), ord, -1)
    return _linalg.vector_norm(x, ord, axes, keepdim=keepdims)
