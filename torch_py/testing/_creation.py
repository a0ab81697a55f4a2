"""Random tensors for tests."""

from __future__ import annotations

import math
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform values in [low, high): by default [-9, 9) for floating and complex dtypes, [-9, 10) or from 0
    for integers, both for bool.

    `noncontiguous`: every second element of a larger tensor. `exclude_zero`: zeros become the smallest normal
    number, or 1. Raises ValueError for an empty interval, one outside of what the dtype holds, and integers
    that should require grad.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            "make_tensor: `requires_grad=True` is not supported for boolean and integral dtypes, "
            f"but got {dtype=}"
        )

    if noncontiguous and memory_format is not None:
        raise ValueError(
            "make_tensor: `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )

    bounds = _bounds(dtype, low, high)
    stretched = (*size[:-1], 2 * size[-1]) if noncontiguous and size and _elements(size) > 1 else size
    values = _draw(stretched, dtype, device, *bounds)

    if exclude_zero:
        values = _torch.where(values == 0, _smallest(values, dtype), values)
    if stretched != size:
        values = values[..., ::2]
    if memory_format is not None:
        values = values.clone(memory_format=memory_format)

    return values.requires_grad_(requires_grad)


def _elements(size: tuple[int, ...]) -> int:
    return math.prod(size)


def _smallest(values: Any, dtype: Any) -> Any:
    """What replaces zeros: the smallest normal number, 1 for integers."""
    return _torch.full_like(
        values, 1 if not (dtype.is_floating_point or dtype.is_complex) else _C.finfo(dtype).tiny
    )


def _limits(dtype: Any) -> tuple[float, float]:
    """What the dtype holds: the first value, and the end, which integers do not reach."""
    if dtype == _C.bool:
        return 0, 2
    if dtype.is_floating_point or dtype.is_complex:
        return _C.finfo(dtype).min, _C.finfo(dtype).max
    information = _C.iinfo(dtype)
    return information.min, information.max + (dtype != _C.int64)


def _bounds(dtype: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The interval to draw from, cut down to what the dtype holds.

    Raises ValueError when nothing is left of it.
    """
    is_real = dtype.is_floating_point or dtype.is_complex
    default = (0, 2) if dtype == _C.bool else (-9, 9) if is_real else (0 if dtype == _C.uint8 else -9, 10)

    first = default[0] if low is None else low
    end = default[1] if high is None else high
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (first, end)):
        raise ValueError(f"make_tensor: `low` and `high` cannot be NaN, but got low={first} and high={end}")
    if first > end or (first == end and not is_real):
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {first} >= {end}")

    smallest, largest = _limits(dtype)
    if first > largest or end < smallest:
        raise ValueError(
            f"make_tensor: the value interval specified by `low` and `high` is [{first}, {end}), "
            f"but {dtype} only supports [{smallest}, {largest})"
        )

    first, end = max(first, smallest), min(end, largest)
    return (first, end) if is_real else (math.ceil(first), math.ceil(end))


def _draw(size: tuple[int, ...], dtype: Any, device: Any, first: Any, end: Any) -> Any:
    if dtype.is_complex:
        part = _C.float32 if dtype == _C.complex64 else _C.float64
        real, imaginary = (_draw(size, part, device, first, end) for _ in range(2))
        return _torch.complex(real, imaginary)
    if dtype.is_floating_point:
        wide = _C.float32 if dtype.itemsize < 4 else dtype
        return _torch.empty(size, dtype=wide, device=device).uniform_(first, end).to(dtype)
    return _torch.randint(first, end, size, dtype=_C.int64, device=device).to(dtype)
