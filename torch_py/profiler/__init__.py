"""Where a program spends its time: `profile` records operator calls, backward and named ranges."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.profiler._averages import EventList, FunctionEventAvg
from torch_py.profiler._profile import profile, tensorboard_trace_handler
from torch_py.profiler._ranges import record_function
from torch_py.profiler._schedule import ProfilerAction, ProfilerActivity, schedule

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
    """Whether operators can be traced."""
    return True


def supported_activities() -> set[ProfilerActivity]:
    return {ProfilerActivity.CPU}


__getattr__ = _lacking(__name__, __path__)
