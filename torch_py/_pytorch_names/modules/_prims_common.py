"""Queries about dtypes, and checks, that programs import from `torch._prims_common`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking


def check(b: bool, s: Callable[[], str], exc_type: type[Exception] = RuntimeError) -> None:
    """Raises `exc_type` with the text that `s()` returns unless `b` is true."""
    if not b:
        raise exc_type(s())


def is_boolean_dtype(dtype: Any) -> bool:
    return bool(dtype == _C.bool)


def is_float_dtype(dtype: Any) -> bool:
    return bool(dtype.is_floating_point)


def is_complex_dtype(dtype: Any) -> bool:
    return bool(dtype.is_complex)


def is_integer_dtype(dtype: Any) -> bool:
    """Whether the dtype is an integer."""
    return not (dtype.is_floating_point or dtype.is_complex or is_boolean_dtype(dtype))


def is_contiguous_or_false(a: Any, memory_format: Any = None) -> bool:
    """Whether the elements are contiguous in memory."""
    return bool(a.is_contiguous() if memory_format is None else a.is_contiguous(memory_format=memory_format))


__getattr__ = _lacking(__name__)
