"""The older way to measure a block; ranges of `record_function` only, as in `torch.profiler`."""

from __future__ import annotations

from typing import Any

from torch_py.profiler import profile as _profile
from torch_py.profiler._averages import EventList as EventList
from torch_py.profiler._averages import FunctionEventAvg as FunctionEventAvg
from torch_py.profiler._ranges import Range as FunctionEvent
from torch_py.profiler._ranges import is_recording as _is_recording
from torch_py.profiler._ranges import record_function as record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]


class profile(_profile):
    """Measures the block unless `enabled` is False."""

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        super().__init__()
        self.enabled = enabled

    def start(self) -> None:
        if self.enabled:
            super().start()

    def table(self, *arguments: Any, **options: Any) -> str:
        return self.key_averages().table(*arguments, **options)


def _is_profiler_enabled() -> bool:
    return _is_recording()
