"""Marks in the time line of a profiler that understands NVIDIA's NVTX.

The profiler names its library in the environment variable NVTX_INJECTION64_PATH. Without one, marks have no
effect, and ranges count their depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _check() -> None:
    if not _C._cuda_isLoaded():
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def mark(msg: str) -> None:
    """Marks this point in time."""
    _check()
    _C._cuda_mark(msg)


def range_push(msg: str) -> int:
    """Begins a range inside the one that this thread began last; returns the number of those around it."""
    _check()
    return _C._cuda_pushRange(msg)


def range_pop() -> int:
    """Ends the range that this thread began last; returns the number of those around it, or -2 if there is
    no range to end."""
    _check()
    return _C._cuda_popRange()


def range_start(msg: str) -> int:
    """Begins a range that any thread can end and that others may overlap; returns its number."""
    _check()
    return _C._cuda_startRange(msg)


def range_end(range_id: int) -> None:
    """Ends the range of a number that `range_start` returned."""
    _check()
    _C._cuda_endRange(range_id)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Marks a block, or the calls of a function that it decorates.

    The name of the range is `msg.format(*args, **kwargs)`.
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
