"""Products of matrices and vectors, which the main namespace and `linalg` share."""

from __future__ import annotations

from typing import Any

from torch_py import _functional
from torch_py._array_api._dtypes import promoted
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    return _torch.matmul(*promoted("matmul", x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Raises ValueError for fewer than two dimensions."""
    if x.dim() < 2:
        raise ValueError(f"matrix_transpose(): expected at least 2 dimensions, got {x.dim()}")
    return _torch.transpose(x, -2, -1)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    return _functional.tensordot(*promoted("tensordot", x1, x2), dims=axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Sum of conj(x1) * x2 along `axis`, counted from the end before broadcasting.

    Raises ValueError when the sizes along it differ.
    """
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(
            f"vecdot(): expected the same size along axis {axis}, got {x1.shape[axis]} and {x2.shape[axis]}"
        )
    left, right = (operand.movedim(axis, -1) for operand in promoted("vecdot", x1, x2))
    return (left.conj() * right).sum(-1, dtype=left.dtype)
