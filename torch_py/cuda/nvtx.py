"""Marks for NVIDIA's profiler. They raise RuntimeError: this build has no CUDA."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*arguments: Any, **keywords: Any) -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark = range = range_end = range_pop = range_push = range_start = _refuse
