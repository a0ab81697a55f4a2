"""`profile`: a block whose ranges are measured, with a schedule of steps."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

from torch_py.profiler._averages import EventList, averages
from torch_py.profiler._ranges import Range, record_function, start_recording, stop_recording


class ProfilerActivity(IntEnum):
    """What may be measured. Here: the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps: `skip_first`, then cycles of `wait`, `warmup` and
    `active`, `repeat` of them (0: without end)."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"schedule: expected wait, warmup, repeat, skip_first >= 0 and active > 0, got {wait=}, "
            f"{warmup=}, {repeat=}, {skip_first=}, {active=}"
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"schedule: expected step >= 0, got {step}")

        step -= skip_first
        if skip_first_wait:
            step += wait
        if step < 0 or (repeat and step // length >= repeat):
            return ProfilerAction.NONE

        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD

    return action


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:
    """Measures the `record_function` ranges inside the block, and each step when `step()` is called.

    With a `schedule`, `on_trace_ready` is called with this object at the end of every cycle; without one at
    the end of the block.
    Options about shapes, memory, stacks and flops are taken and add nothing: operators are not recorded.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        **options: Any,
    ) -> None:
        self.activities = set(activities) if activities is not None else {ProfilerActivity.CPU}
        self.schedule = schedule or _always
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._events: list[Range] = []
        self._recording: list[Range] | None = None
        self._step: record_function | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        self._follow()

    def stop(self) -> None:
        recorded = self._recording is not None
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
        if wanted and self._recording is None:
            self._recording = self._events = start_recording()
        elif not wanted:
            self._end_recording()
        if wanted and self.schedule is not _always:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _end_recording(self) -> None:
        if self._recording is not None:
            stop_recording(self._recording)
            self._recording = None

    def events(self) -> list[Range]:
        return list(self._events)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any
    ) -> EventList:
        """Ranges summed by name."""
        return averages(self._events)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the ranges for chrome://tracing. Times in the file are in microseconds."""
        events = [
            {
                "name": event.name,
                "ph": "X",
                "ts": event.start_ns / 1000,
                "dur": (event.end_ns - event.start_ns) / 1000,
                "pid": os.getpid(),
                "tid": event.thread,
            }
            for event in self._events
        ]

        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def add_metadata(self, key: str, value: str) -> None:
        """Nothing keeps metadata."""

    add_metadata_json = add_metadata


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An `on_trace_ready` that writes a trace into `dir_name` for every cycle."""

    def handle(measured: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        measured.export_chrome_trace(str(Path(dir_name) / f"{worker}.{time.time_ns()}.pt.trace.json"))

    return handle
