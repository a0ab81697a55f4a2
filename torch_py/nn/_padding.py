"""Padding: constants around a tensor, or what is already in it repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _nn, _torch
from torch_py._namespace import find_operator
from torch_py._tensor import Tensor

_constant_pad = find_operator("constant_pad_nd", _nn, _torch)
_MODES = ("constant", "reflect", "replicate", "circular")


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Makes dimensions longer, or shorter for negative widths: `pad` = (left, right) of the last dimension, then of the one before, ...

    Modes: 'constant' (`value`, default 0), 'reflect' (mirrored, edge not repeated), 'replicate' (edge repeated), 'circular' (wrapped
    around). Raises ValueError for another mode, RuntimeError for widths that do not fit.
    """
    widths = list(pad)
    if mode not in _MODES:
        raise NotImplementedError(f"pad: expected mode to be one of {', '.join(_MODES)}, got {mode!r}")
    if len(widths) % 2 != 0 or len(widths) > 2 * input.dim():
        raise RuntimeError(f"pad: expected an even number of widths, at most {2 * input.dim()} for shape {tuple(input.shape)}, got {widths}")
    if mode == "constant":
        return _constant_pad(input, widths, 0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    result = input
    for position in range(0, len(widths), 2):
        dim = input.dim() - 1 - position // 2
        before, after = widths[position : position + 2]
        if before or after:
            result = result.index_select(dim, _picked(mode, int(input.shape[dim]), before, after, dim))
    return result


def _picked(mode: str, size: int, before: int, after: int, dim: int) -> Any:
    """Where in a dimension of `size` each element of the padded dimension comes from."""
    limit = {"reflect": size - 1, "circular": size, "replicate": max(before, after, 0) if size else 0}[mode]
    if before > limit or after > limit:
        raise RuntimeError(f"pad: expected {mode} widths of at most {limit} for dimension {dim} of size {size}, got ({before}, {after})")
    positions = range(-before, size + after)
    if mode == "replicate":
        source = [min(max(position, 0), size - 1) for position in positions]
    elif mode == "circular":
        source = [position % size for position in positions]
    else:
        source = [size - 1 - abs(size - 1 - abs(position)) for position in positions]
    return _C.tensor(source, dtype=_C.int64)
