"""`profile`: a block whose operator calls and ranges are recorded, with a schedule of steps."""

from __future__ import annotations

import socket
import time
import warnings
from collections.abc import Callable, Iterable
from os import getpid
from pathlib import Path
from typing import Any

from torch_py import _C
from torch_py.profiler._averages import EventList, averages
from torch_py.profiler._flops import count_flops
from torch_py.profiler._ranges import FunctionEvent, collect, record_function
from torch_py.profiler._schedule import ProfilerAction, ProfilerActivity, always
from torch_py.profiler._trace import write_trace


class profile:
    """Records what a block of a program calls, and how long each call takes.

    It records the operator calls of this thread, the nodes of backward, the ranges of `record_function`, and
    a range for each step if the program calls `step()`.

    Args:
        activities: the kinds of `ProfilerActivity` to record; default None, the CPU
        schedule: a function from the number of a step to a `ProfilerAction`, as `torch.profiler.schedule`
            makes them; default None, which records every step
        on_trace_ready: a function that gets this object at the end of each cycle of the schedule, or
            at the end of the block if there is no schedule; default None
        record_shapes: whether to record the shapes of arguments; default False
        profile_memory: whether to record the bytes of host memory that each call allocates; default False
        with_stack: whether to record the lines of the program; default False
        with_flops: whether to count the floating-point operations of products, convolutions and attention;
            default False
        with_modules: accepted as in PyTorch, without an effect; default False

    Example:
        >>> with torch.profiler.profile(record_shapes=True) as measured:
        ...     _ = torch.ones(3).exp()
        >>> [event.key for event in measured.key_averages() if "exp" in event.key]
        ['aten::exp']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **options: Any,
    ) -> None:
        self.activities = set(activities) if activities is not None else {ProfilerActivity.CPU}
        self.schedule = schedule or always
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops

        self.step_num = 0
        self.current_action = self.schedule(0)
        self._events: list[FunctionEvent] = []
        self._metadata: dict[str, Any] = {}
        self._is_recording = False
        self._step: record_function | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        self._follow()

    def stop(self) -> None:
        recorded = self._is_recording
        self._end_step()
        self._end_recording()
        if recorded and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step of the schedule begins."""
        self._end_step()
        if self.current_action is ProfilerAction.RECORD_AND_SAVE:
            self._end_recording()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._follow()

    def _follow(self) -> None:
        wanted = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and not self._is_recording:
            _C._profiler_start(self.record_shapes or self.with_flops, self.profile_memory, self.with_stack)
            self._is_recording = True
        elif not wanted:
            self._end_recording()
        if wanted and self.schedule is not always:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _end_recording(self) -> None:
        if not self._is_recording:
            return
        self._is_recording = False
        self._events = collect(_C._profiler_stop())
        if self.with_flops:
            count_flops(self._events)

    def events(self) -> list[FunctionEvent]:
        """All events, in the order in which they began."""
        return list(self._events)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any
    ) -> EventList:
        """Events summed by name, and by the shapes of the arguments or the innermost lines if asked for."""
        return averages(self._events, group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events for https://ui.perfetto.dev or chrome://tracing."""
        write_trace(path, self._events, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes lines of stacks and microseconds, which tools for flame graphs read. Needs `with_stack`."""
        if metric != "self_cpu_time_total":
            warnings.warn(f"export_stacks: only self_cpu_time_total is measured, not {metric}", stacklevel=2)
        lines = [
            f"{';'.join(reversed(event.stack))} {event.self_cpu_time_total:.0f}"
            for event in self._events
            if event.stack
        ]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a value to the traces that are written."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds the text of a JSON value to the traces that are written."""
        import json

        self._metadata[key] = json.loads(value)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An `on_trace_ready` that writes a trace into `dir_name` for every cycle."""

    def handle(measured: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{getpid()}"
        suffix = ".gz" if use_gzip else ""
        measured.export_chrome_trace(str(Path(dir_name) / f"{worker}.{time.time_ns()}.pt.trace.json{suffix}"))

    return handle
