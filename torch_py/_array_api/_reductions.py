"""Reductions: statistics, sums, products, all, any; cumulative sums and differences."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._array_api._dtypes import isdtype
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


def axes_of(x: Tensor, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """`axis` as a tuple of non-negative numbers. Raises IndexError for one that `x` does not have."""
    if axis is None:
        return tuple(range(x.dim()))
    axes = (axis,) if isinstance(axis, int) else axis
    for each in axes:
        if not -x.dim() <= each < x.dim():
            raise IndexError(f"axis {each} is out of range for {x.dim()} dimensions")
    return tuple(each % x.dim() for each in axes)


def _reduce(operator: Any, x: Tensor, axis: Any, keepdims: bool, **options: Any) -> Any:
    """torch takes no dimensions for all of them; here they mean that
    nothing is reduced: a dimension of one element is."""
    axes = axes_of(x, axis)
    if not axes:
        return operator(x.unsqueeze(-1), -1, **options)
    return operator(x, axes, keepdim=keepdims, **options)


def _sum_dtype(x: Tensor, dtype: Any) -> Any:
    return dtype if dtype is not None else _C.int64 if isdtype(x.dtype, ("integral", "bool")) else x.dtype


def sum(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.sum, x, axis, keepdims, dtype=_sum_dtype(x, dtype))


def prod(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    result: Any = x.to(_sum_dtype(x, dtype))
    axes = axes_of(x, axis)
    for each in axes:
        result = _torch.prod(result, each, keepdim=True)
    return result if keepdims or not axes else _torch.squeeze(result, axes)


def mean(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.mean, x, axis, keepdims)


def var(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Mean square distance from the mean, over the number of elements less `correction`."""
    return _reduce(_torch.var, x, axis, keepdims, correction=correction)


def std(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.std, x, axis, keepdims, correction=correction)


def max(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.amax, x, axis, keepdims)


def min(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.amin, x, axis, keepdims)


def all(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.all, x != 0, axis, keepdims)


def any(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.any, x != 0, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduce(_torch.sum, x != 0, axis, keepdims)


def _cumulative(
    operator: Any, neutral: int, x: Tensor, axis: int | None, dtype: Any, include_initial: bool
) -> Tensor:
    if axis is None:
        if x.dim() != 1:
            raise ValueError(
                f"axis must be given for {x.dim()} dimensions; only arrays of one have a default"
            )
        axis = 0

    result: Any = operator(x, axis, dtype=_sum_dtype(x, dtype))
    if not include_initial:
        return result

    size = list(x.shape)
    size[axis] = 1
    return _torch.cat([result.new_full(size, neutral), result], axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative(_torch.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative(_torch.cumprod, 1, x, axis, dtype, include_initial)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    return _torch.diff(x, n, axis, prepend, append)
