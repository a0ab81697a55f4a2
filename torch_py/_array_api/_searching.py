"""Finding, choosing, sorting, and sets of values."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch_py import _functional
from torch_py._array_api._dtypes import promoted
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where",
]


class UniqueAll(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _position(operator: Any, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    if axis is not None:
        return operator(x, axis, keepdim=keepdims)
    result: Any = operator(x.reshape(-1))
    return result.reshape((1,) * x.dim()) if keepdims else result


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    return _position(_torch.argmax, x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    return _position(_torch.argmin, x, axis, keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Raises ValueError for an array without dimensions, which has no index to return."""
    if x.dim() == 0:
        raise ValueError("nonzero(): expected at least 1 dimension, got 0")
    return x.nonzero(as_tuple=True)


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where in the ascending `x1` the elements of `x2` would be inserted.

    `sorter` has the indices that sort `x1`.
    """
    first, second = promoted("searchsorted", x1, x2)
    return _torch.searchsorted(first, second, side=side, sorter=sorter)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    return _torch.where(condition, *promoted("where", x1, x2))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Raises ValueError without `axis` unless there is one dimension."""
    if axis is None:
        if x.dim() != 1:
            raise ValueError(f"take(): axis must be given for {x.dim()} dimensions")
        axis = 0
    return _torch.index_select(x, axis, indices)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    return _torch.take_along_dim(x, indices, dim=axis)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    return _torch.sort(x, stable=stable, dim=axis, descending=descending)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    return _torch.sort(x, stable=stable, dim=axis, descending=descending)[1]


def unique_values(x: Tensor, /) -> Tensor:
    return _functional.unique(x)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    return UniqueCounts(*_functional.unique(x, return_counts=True))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    return UniqueInverse(*_functional.unique(x, return_inverse=True))


def unique_all(x: Tensor, /) -> UniqueAll:
    """`indices`: of the first occurrence of each value in the flattened array."""
    values, inverse, counts = _functional.unique(x, return_inverse=True, return_counts=True)
    # Sorting by value keeps the order of equal ones: each run begins with the first occurrence.
    order: Any = _torch.sort(inverse.reshape(-1), stable=True)[1]
    starts = _torch.cumsum(counts, 0) - counts
    return UniqueAll(values, order[starts], inverse, counts)
