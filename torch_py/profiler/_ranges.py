"""Ranges of a program: when each began and ended, and on which thread."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Range(NamedTuple):
    name: str
    start_ns: int
    end_ns: int
    children_ns: int  # time in ranges directly inside
    thread: int


class _Stack(threading.local):
    def __init__(self) -> None:
        self.children: list[int] = []


_stack = _Stack()
_recordings: list[list[Range]] = []  # of every profile that is running


def start_recording() -> list[Range]:
    recording: list[Range] = []
    _recordings.append(recording)
    return recording


def stop_recording(recording: list[Range]) -> None:
    _recordings[:] = [other for other in _recordings if other is not recording]


def is_recording() -> bool:
    return bool(_recordings)


class record_function:
    """A named range, as a block or a decorator. Costs next to nothing while no `profile` runs."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        _stack.children.append(0)
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *exception: object) -> None:
        end = time.perf_counter_ns()
        start = self._starts.pop()
        inside = _stack.children.pop() if _stack.children else 0
        if _stack.children:
            _stack.children[-1] += end - start
        for recording in _recordings:
            recording.append(Range(self.name, start, end, inside, threading.get_ident()))

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*arguments: Any, **keywords: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*arguments, **keywords)

        return recorded
