"""Wall time of named ranges: `record_function` inside `profile`. Operators are not recorded one by one."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.profiler._averages import EventList, FunctionEventAvg
from torch_py.profiler._profile import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from torch_py.profiler._ranges import record_function

__all__ = [
    "EventList",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def kineto_available() -> bool:
    """Whether operators and devices can be traced: no."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    return {ProfilerActivity.CPU}


__getattr__ = _lacking(__name__, __path__)
