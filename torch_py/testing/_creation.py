"""Random tensors for tests."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform values in [low, high): by default [-9, 9) for floating and complex dtypes, [-9, 10) or from 0 for integers, both for bool.

    `noncontiguous`: every second element of a larger tensor. `exclude_zero`: zeros become ones. Raises ValueError for an empty range or
    integers that should require grad.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"make_tensor: expected a floating-point or complex dtype with requires_grad=True, got {dtype}")
    stretched = (*size[:-1], 2 * size[-1]) if noncontiguous and size and size[-1] else size
    values = _draw(stretched, dtype, low, high)
    if exclude_zero:
        values = _torch.where(values == 0, _torch.ones_like(values), values)
    if stretched != size:
        values = values[..., ::2]
    if memory_format is not None:
        values = values.contiguous(memory_format=memory_format)
    return values.requires_grad_(requires_grad)


def _draw(size: tuple[int, ...], dtype: Any, low: float | None, high: float | None) -> Any:
    if dtype == _C.bool:
        return _torch.randint(0, 2, size, dtype=_C.int64) == 1
    if dtype.is_floating_point or dtype.is_complex:
        start, end = -9.0 if low is None else low, 9.0 if high is None else high
        if start > end:
            raise ValueError(f"make_tensor: expected low < high, got {start} and {end}")
        if dtype.is_complex:
            part = _C.float32 if dtype == _C.complex64 else _C.float64
            real, imaginary = (_torch.empty(size, dtype=part).uniform_(start, end) for _ in range(2))
            return real + imaginary.to(dtype) * 1j
        return _torch.empty(size, dtype=_C.float32 if dtype.itemsize < 4 else dtype).uniform_(start, end).to(dtype)
    information = _C.iinfo(dtype)
    first = max(-9 if low is None else int(low), information.min)
    last = min(10 if high is None else int(high), information.max)
    if first >= last:
        raise ValueError(f"make_tensor: expected low < high for {dtype}, got {first} and {last}")
    return _torch.randint(first, last, size, dtype=_C.int64).to(dtype)
