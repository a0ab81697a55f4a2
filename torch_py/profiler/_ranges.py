"""Events of a profile: operator calls, nodes of backward, and ranges that the program names."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_py import _C


@dataclass(eq=False)
class FunctionEvent:
    """One call of an operator, or one range. Times are in nanoseconds of a steady clock."""

    name: str
    is_operator: bool
    start_ns: int
    end_ns: int
    thread: int
    parent: FunctionEvent | None = None
    memory: int = 0  # bytes of host memory allocated and not freed inside
    sequence_nr: int = -1
    input_shapes: list[list[int]] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)  # innermost first
    children_ns: int = 0  # time in events directly inside
    children_memory: int = 0
    flops: int = 0

    @property
    def cpu_time_total(self) -> float:
        """In microseconds, as the other times that programs read."""
        return (self.end_ns - self.start_ns) / 1000

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - self.children_ns / 1000

    @property
    def key(self) -> str:
        return self.name


def collect(rows: list[Any]) -> list[FunctionEvent]:
    """What the native recording returned, as events."""
    thread = threading.get_ident()
    events: list[FunctionEvent] = []
    for name, is_operator, start, end, parent, memory, sequence, shapes, stack in rows:
        around = events[parent] if parent >= 0 else None
        event = FunctionEvent(
            name, is_operator, start, end, thread, around, memory, sequence, shapes or [], stack or []
        )
        if around is not None:
            around.children_ns += end - start
            around.children_memory += memory
        events.append(event)
    return events


class record_function:
    """A named range, as a block or a decorator. Costs next to nothing while no `profile` runs."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[int] = []

    def __enter__(self) -> record_function:
        self._open.append(_C._profiler_begin(self.name))
        return self

    def __exit__(self, *exception: object) -> None:
        event = self._open.pop()
        if event >= 0:
            _C._profiler_end(event)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*arguments: Any, **keywords: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*arguments, **keywords)

        return recorded
