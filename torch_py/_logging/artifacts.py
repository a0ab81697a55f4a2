"""What the compiler has to say about a function that it compiles: to the log, and to a folder.

With ``TORCH_COMPILE_DEBUG=1`` every compiled graph has a folder, with a file for each stage::

    torch_compile_debug/run_2026_11_26_07_15_42-4711/
        0_scaled/
            function.py  captured_graph.py  joint_graph.py  guards.txt  timings.txt  ...
            forward/     graph.py  loops.txt  nests.txt  kernels.cpp  program.txt
            backward/    ...

``TORCH_COMPILE_DEBUG_DIR`` is where `torch_compile_debug` is, in place of the working directory.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from torch_py import _logging

_STARTED = time.strftime("%Y_%m_%d_%H_%M_%S")
_numbers = count()


def is_on() -> bool:
    """Whether the environment asks for folders."""
    return os.environ.get("TORCH_COMPILE_DEBUG", "0") not in ("", "0")


def run_folder(root: str | None = None) -> Path:
    """The folder of this process, below `root` or the usual place. It may not exist yet."""
    base = root or os.environ.get("TORCH_COMPILE_DEBUG_DIR") or "."
    return Path(base, "torch_compile_debug", f"run_{_STARTED}-{os.getpid()}")


class Compilation:
    """One graph on its way from a function to machine code."""

    def __init__(self, name: str, is_on: bool) -> None:
        self.name = name
        self.is_on = is_on
        self.parts: list[str] = []  # the folders inside that are written to now
        self.root: str | None = None  # the folder of all runs; None for the usual one
        self.times: dict[str, float] = {}  # seconds, by stage
        self.inner: list[float] = []  # seconds of the stages within each that runs now
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder of the graph, which is made when it is asked for."""
        if self._folder is None:
            name = re.sub(r"\W+", "_", self.name, flags=re.ASCII).strip("_") or "graph"
            self._folder = run_folder(self.root) / f"{next(_numbers)}_{name[:60]}"
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def write(self, file: str, text: str) -> Path | None:
        """Writes a file into the folder of the current part. Returns its path, or None if that fails."""
        try:
            place = self.folder.joinpath(*self.parts)
            place.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        except OSError as problem:
            self.is_on = False
            _logging.topic("dynamo").warning("TORCH_COMPILE_DEBUG: nothing is written: %s", problem)
            return None
        return place / file

    def write_times(self) -> None:
        """The stages, in the order in which they began, and how long they took."""
        rows = [f"{seconds * 1000:10.2f} ms  {stage}" for stage, seconds in self.times.items()]
        total = f"{sum(self.times.values()) * 1000:10.2f} ms  in all"
        self.write("timings.txt", "\n".join([*rows, total]))


class _Current(threading.local):
    compilation: Compilation | None = None


_current = _Current()


@contextlib.contextmanager
def compilation(name: str) -> Iterator[Compilation]:
    """What is written inside belongs to the graph `name`. Within another compilation, to that."""
    outer = _current.compilation
    if outer is not None:
        yield outer
        return

    made = _current.compilation = Compilation(name, is_on())
    try:
        with timed("other"):
            yield made
    finally:
        _current.compilation = None
        if made.is_on:
            made.write_times()


@contextlib.contextmanager
def part(name: str) -> Iterator[None]:
    """Files are written to a folder inside, and stages are those of the part."""
    found = _current.compilation
    if found is None:
        yield
        return

    found.parts.append(name)
    try:
        yield
    finally:
        found.parts.pop()


def current_part() -> str:
    """The part that is compiled now; nothing outside of parts."""
    found = _current.compilation
    return found.parts[-1] if found is not None and found.parts else ""


@contextlib.contextmanager
def timed(stage: str) -> Iterator[None]:
    """Adds the time until the end of the block to that of a stage; not that of stages inside."""
    found = _current.compilation
    if found is None:
        yield
        return

    name = "/".join([*found.parts, stage])
    found.times.setdefault(name, 0.0)
    found.inner.append(0.0)
    begin = time.perf_counter()
    try:
        yield
    finally:
        taken = time.perf_counter() - begin
        found.times[name] += taken - found.inner.pop()
        if found.inner:
            found.inner[-1] += taken


def switch_on(root: str | None) -> None:
    """Writes a folder for the current graph whatever the environment says."""
    found = _current.compilation
    if found is not None:
        found.is_on = True
        found.root = root


def is_written() -> bool:
    """Whether the current graph has a folder."""
    found = _current.compilation
    return found is not None and found.is_on


def write(file: str, text: Callable[[], str]) -> Path | None:
    """Writes a file about the current graph, if a folder is wanted, and returns its path."""
    found = _current.compilation
    return found.write(file, text()) if found is not None and found.is_on else None


def artifact(topic: str, file: str, text: Callable[[], str]) -> None:
    """Prints a text under a topic of the log, and writes it to a file, where each is wanted."""
    if _logging.is_on(topic):
        _logging.topic(topic).debug("%s", text())
    write(file, text)
