"""Marks in the time line of NVIDIA's profiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C

__all__ = ["mark", "range", "range_pop", "range_push"]

_depth = 0


def _check() -> None:
    if not _C._cuda_isLoaded():
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def mark(msg: str) -> None:
    """Marks this point in time."""
    _check()
    _C._cuda_mark(msg)


def range_push(msg: str) -> int:
    """Begins a range inside the one that this thread began last; returns the number of those around it."""
    global _depth
    _check()
    _C._cuda_pushRange(msg)
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """Ends the range that this thread began last; returns the number of those around it."""
    global _depth
    _check()
    _C._cuda_popRange()
    _depth = max(_depth - 1, 0)
    return _depth


def range_start(msg: str) -> int:
    """Raises NotImplementedError: torch_py has ranges that nest, but none that overlap."""
    _check()
    raise NotImplementedError("torch.cuda.nvtx.range_start: torch_py has no overlapping ranges")


def range_end(range_id: int) -> None:
    """Raises NotImplementedError: see `range_start`."""
    range_start("")


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Marks a block, or the calls of a function that it decorates."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
