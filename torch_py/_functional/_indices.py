"""Indices of elements, and distinct elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = ["nonzero", "unique", "unique_consecutive", "unravel_index"]


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of elements that are not zero: a row each, or with
    `as_tuple` a vector for each dimension, to index with.

    Args:
        input: any shape
        out: a tensor that receives the result; default None
        as_tuple: whether to return a vector for each dimension; default False

    Example:
        >>> torch.nonzero(torch.tensor([[0, 5], [6, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """
    if as_tuple:
        return tuple(cast(Any, _C)._ops.nonzero_numpy(input))
    return _torch.nonzero(input) if out is None else _torch.nonzero(input, out=out)


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of positions in a flattened array of `shape`, as one int64 tensor per dimension.

    Raises TypeError unless `indices` are integers, ValueError for a negative size.

    Args:
        indices: the positions, integers of any shape
        shape: the shape of the array

    Example:
        >>> torch.unravel_index(torch.tensor([0, 5]), (2, 3))
        (tensor([0, 1]), tensor([0, 2]))
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == _C.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")

    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")

    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")

    coordinates: list[Tensor] = []
    rest = indices.long()
    for size in reversed(sizes):
        coordinates.append(rest % size)
        rest = rest.div(size, rounding_mode="floor") if size else rest

    return tuple(reversed(coordinates))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or slices along `dim`, in order.

    `return_inverse` adds the position of each element among them, `return_counts` how often each occurs.

    Args:
        input: any shape
        sorted: has no effect: results are always in order; default True
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        found = _C._torch._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _C._ops.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _asked_for(found, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices along `dim`, that differ from the one before; otherwise as `unique`.

    Args:
        input: any shape
        return_inverse: whether to return positions; default False
        return_counts: whether to return counts; default False
        dim: the dimension of slices; default None, single elements

    Example:
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    return _asked_for(
        _torch.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts
    )


def _asked_for(found: tuple[Tensor, Tensor, Tensor], inverse: bool, counts: bool) -> Any:
    values, indices, sizes = found
    results = (values, *([indices] if inverse else []), *([sizes] if counts else []))
    return values if len(results) == 1 else results
