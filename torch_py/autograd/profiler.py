"""The older interface to `torch.profiler`."""

from __future__ import annotations

from typing import Any

from torch_py import _C as _C
from torch_py.profiler import profile as _profile
from torch_py.profiler._averages import EventList as EventList
from torch_py.profiler._averages import FunctionEventAvg as FunctionEventAvg
from torch_py.profiler._ranges import FunctionEvent as FunctionEvent
from torch_py.profiler._ranges import record_function as record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_nvtx", "profile", "record_function"]


class profile(_profile):
    """Measures the block, unless `enabled` is False."""

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.enabled = enabled

    def start(self) -> None:
        """Begins to record."""
        if self.enabled:
            super().start()

    def table(self, *arguments: Any, **options: Any) -> str:
        """The averages by name as text."""
        return self.key_averages().table(*arguments, **options)


class emit_nvtx:
    """Marks operations for NVIDIA's profilers.

    Entering it raises RuntimeError, since this build lacks CUDA.
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            raise RuntimeError(
                "torch.autograd.profiler.emit_nvtx: this build of torch_py has no CUDA support"
            )
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def _is_profiler_enabled() -> bool:
    return bool(_C._profiler_enabled())
