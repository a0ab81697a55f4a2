"""Linear and bilinear maps, and products of several groups of matrices, as functions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = ["bilinear", "grouped_mm", "linear"]

_torch: Any = _C._torch

linear = _C._nn.linear
bilinear = _C._torch.bilinear


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """The products of pairs of matrices, of which groups may be parts of one matrix.

    Args:
        mat_a: (G, M, K), or (M, K) whose rows, or columns if `mat_b` has two dimensions, are divided
        mat_b: (G, K, N), or (K, N) whose columns, or rows if `mat_a` has two dimensions, are divided
        offs: int32 (G,), where each group ends in the dimension that is divided; default None
        bias: must be None
        out_dtype: the dtype of the result; default None

    Example:
        >>> a = torch.ones(2, 3, 8, dtype=torch.bfloat16)
        >>> F.grouped_mm(a, torch.ones(2, 8, 4, dtype=torch.bfloat16)).shape
        torch.Size([2, 3, 4])
    """
    ranks = (mat_a.dim(), mat_b.dim())
    if bias is not None:
        raise RuntimeError("grouped_mm: bias is not supported")
    if ranks not in ((3, 3), (2, 3), (3, 2), (2, 2)):
        raise RuntimeError(
            f"grouped_mm: expected matrices or batches of them, got {ranks[0]}-d and {ranks[1]}-d"
        )
    if (offs is None) != (ranks == (3, 3)):
        raise RuntimeError("grouped_mm: expected offs unless both arguments have 3 dimensions, and only then")

    if offs is None:
        result = _torch.bmm(mat_a, mat_b)
    else:
        ends = [0, *offs.tolist()]
        _check_ends(mat_a, mat_b, ends)
        result = _divided(mat_a, mat_b, ends)
    return result if out_dtype is None else result.to(out_dtype)  # type: ignore[no-any-return]


def _check_ends(mat_a: Tensor, mat_b: Tensor, ends: list[int]) -> None:
    batch = next((matrices for matrices in (mat_a, mat_b) if matrices.dim() == 3), None)
    if batch is not None and len(ends) - 1 != batch.shape[0]:
        raise RuntimeError(
            f"grouped_mm: expected offs of {batch.shape[0]} groups, as the batch has, got {len(ends) - 1}"
        )

    size = mat_b.shape[-1] if mat_a.dim() == 3 else mat_a.shape[-1 if batch is None else 0]
    if ends != sorted(ends) or ends[-1] > size:
        raise RuntimeError(
            f"grouped_mm: expected offs that increase from 0 to at most {size}, got {ends[1:]}"
        )


def _divided(mat_a: Tensor, mat_b: Tensor, ends: list[int]) -> Any:
    groups = list(pairwise(ends))
    if mat_a.dim() == mat_b.dim():
        return _torch.stack([mat_a[:, start:end] @ mat_b[start:end] for start, end in groups])

    if mat_a.dim() == 2:
        parts = [mat_a[start:end] @ mat_b[i] for i, (start, end) in enumerate(groups)]
        left = mat_a.new_zeros((mat_a.shape[0] - ends[-1], mat_b.shape[2]))
        return _torch.cat([*parts, left])

    parts = [mat_a[i] @ mat_b[:, start:end] for i, (start, end) in enumerate(groups)]
    left = mat_a.new_zeros((mat_a.shape[1], mat_b.shape[1] - ends[-1]))
    return _torch.cat([*parts, left], 1)
