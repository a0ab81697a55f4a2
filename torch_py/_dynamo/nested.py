"""Tensors, and numbers that vary, in the containers of arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._shapes.numbers import VARYING, SymSize
from torch_py._tensor import Tensor


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with `function` applied to the tensors in it, and to sizes that vary."""
    kind = type(value)
    if kind in VARYING or isinstance(value, Tensor):
        return function(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, tuple):
        items = [map_tensors(item, function) for item in value]
        if kind in (tuple, SymSize):
            return tuple(items)
        return kind(*items) if hasattr(value, "_fields") else kind(items)

    if isinstance(value, list):
        return [map_tensors(item, function) for item in value]
    if isinstance(value, dict):
        return {key: map_tensors(item, function) for key, item in value.items()}
    if kind is slice:
        return slice(*(map_tensors(part, function) for part in (value.start, value.stop, value.step)))
    return value


_ATOMS = frozenset({int, float, bool, str, type(None), _C.dtype, _C.device})


def has_tensors(value: Any) -> bool:
    """Whether `value` is a tensor or a container with one."""
    if isinstance(value, Tensor):
        return True
    if isinstance(value, dict):
        value = tuple(value.values())
    return isinstance(value, (tuple, list)) and any(map(has_tensors, value))
