"""Marks for NVIDIA's profiler. They raise RuntimeError: this build has no CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


def _refuse(*arguments: Any, **keywords: Any) -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark = range_end = range_pop = range_push = range_start = _refuse


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Marks a block, or the calls of a function that it decorates. Raises RuntimeError when either runs."""
    range_push(msg.format(*args, **kwargs))
    yield
