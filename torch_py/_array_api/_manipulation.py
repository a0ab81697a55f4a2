"""The same elements in another shape or order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _functional
from torch_py._array_api._dtypes import result_type
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    return list(_functional.broadcast_tensors(*arrays))


def broadcast_to(x: Tensor, /, shape: Any) -> Tensor:
    return _torch.broadcast_to(x, shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Joined along `axis`; None joins the flattened arrays."""
    dtype = result_type(*arrays)
    parts = [(array.reshape(-1) if axis is None else array).to(dtype) for array in arrays]
    return _torch.cat(parts, dim=axis or 0)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    dtype = result_type(*arrays)
    return _torch.stack([array.to(dtype) for array in arrays], dim=axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    return tuple(_torch.unbind(x, axis))


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    return _torch.unsqueeze(x, axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Without the dimensions `axis`. Raises ValueError unless their size is 1."""
    axes = (axis,) if isinstance(axis, int) else axis
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze(): expected size 1 in dimension {each}, got {x.shape[each]}")
    return _torch.squeeze(x, axes)


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    axes = tuple(range(x.dim())) if axis is None else (axis,) if isinstance(axis, int) else axis
    return _torch.flip(x, axes)


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    return _torch.moveaxis(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    return _torch.permute(x, axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    return _torch.repeat_interleave(x, repeats, dim=axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """`copy` True: in memory of its own; False: a view, ValueError where
    that is impossible; None: whichever works."""
    if copy:
        return _torch.reshape(x.clone(), shape)
    if copy is None:
        return _torch.reshape(x, shape)
    try:
        result: Tensor = x.view(shape)
    except RuntimeError as error:
        raise ValueError(
            f"reshape(): shape {tuple(x.shape)} to {tuple(shape)} needs a copy, and copy=False forbids it"
        ) from error
    return result


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    return _torch.roll(x, shift) if axis is None else _torch.roll(x, shift, axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    return _torch.tile(x, tuple(repetitions))
