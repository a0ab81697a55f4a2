"""Runs ninja with one line of progress; shows compiler output on failure and keeps warnings in a file."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

STATUS = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")
INSTRUCTION_SET = re.compile(r" \((\w+)\)$")
# g++ and clang++
UNKNOWN_OPERATOR = re.compile(
    r"error: (?:\W*(\w+)\W* is not a member of \W*at\W|no member named '(\w+)' in namespace 'at')"
)
OPERATOR_HEADERS = Path(__file__).resolve().parents[2] / "build/generated/aten/ops"
MEMORY_PER_JOB = 1.5 * 2**30  # the largest kernel files at -O3
SECONDS_BETWEEN_LINES = 10.0  # when the output is not a terminal


class Progress:
    """Reads ninja's output line by line.

    A terminal sees one line in place; a log sees a line now and then.
    """

    def __init__(self, stream: TextIO, verbose: bool = False) -> None:
        self.stream = stream
        self.in_place = stream.isatty() and not verbose
        self.verbose = verbose
        self.done = 0
        self.failed = False
        self.warnings: list[str] = []
        self._about = ""
        self._pending: list[str] = []
        self._errors: set[str] = set()
        self._last_line = 0.0

    def feed(self, lines: Iterable[str]) -> None:
        for line in lines:
            line = line.rstrip("\n")
            status = STATUS.match(line)
            if self.verbose:
                print(line, file=self.stream, flush=True)

            if status:
                self._finish_step()
                self.done = int(status[1])
                self._about = status[3]
                self._show(int(status[1]), int(status[2]), status[3])
            elif line.strip() and not line.startswith("ninja: "):
                self._pending.append(line)
            elif line.startswith("ninja: error") or line.startswith("ninja: fatal"):
                self._pending.append(line)
                self.failed = True

        self._finish_step()
        self._clear()

    def _finish_step(self) -> None:
        """Handles the lines after a status line, which belong to it.

        They are the errors of a step that failed, or the warnings of one that did not.
        """
        lines, self._pending = self._pending, []
        if not lines or self.verbose:
            return
        if any(line.startswith(("FAILED: ", "ninja: ")) for line in lines):
            self.failed = True
            self._clear()
            # The command is long and says little; the compiler's own words come after it.
            self._show_error(
                [line for line in lines if not line.startswith("FAILED: ") and " -MMD -MF " not in line]
            )
        else:
            self.warnings.append(f"== {self._about}\n" + "\n".join(lines))

    def _show_error(self, lines: list[str]) -> None:
        """Prints the errors of a step, once for all instruction sets of a file."""
        instruction_set = INSTRUCTION_SET.search(self._about)
        common = "\n".join(lines).replace(instruction_set[1], "*") if instruction_set else "\n".join(lines)
        print(f"error while {self._about}" if self._about else "error", end="", file=self.stream)
        if common in self._errors:
            print(": the same", file=self.stream, flush=True)
            return
        self._errors.add(common)
        print("", *lines, *missing_includes(lines), sep="\n", file=self.stream, flush=True)

    def _show(self, number: int, total: int, text: str) -> None:
        line = f"[{number}/{total}] {text}"
        if self.in_place:
            columns = shutil.get_terminal_size().columns - 1
            line = line if len(line) <= columns else f"{line[: columns - 1]}…"
            self.stream.write(f"\r\x1b[2K{line}")
            self.stream.flush()
        elif not self.verbose and (
            number == total or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        ):
            self._last_line = time.monotonic()
            print(line, file=self.stream, flush=True)

    def _clear(self) -> None:
        if self.in_place:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()


def missing_includes(lines: Iterable[str], headers: Path = OPERATOR_HEADERS) -> list[str]:
    """Hints at the headers of the operators that a compiler does not find.

    Every operator has a header of its own, which the compiler's message does not mention.
    """
    names = dict.fromkeys(found[1] or found[2] for found in map(UNKNOWN_OPERATOR.search, lines) if found)
    return [
        f'hint: at::{name} is declared in "aten/ops/{name}.h"'
        for name in names
        if (headers / f"{name}.h").exists()
    ]


def run_ninja(
    ninja: str,
    file: str,
    jobs: int | None,
    verbose: bool,
    targets: Iterable[str] = (),
    folder: Path = Path("."),
) -> Progress:
    """Runs to the end and returns what was seen; `failed` says whether a step failed."""
    command = [ninja, "-f", file, "-j", str(jobs or default_jobs()), *(["-v"] if verbose else []), *targets]
    # C locale: messages with plain quotes. Colours are asked for because a pipe would switch them off.
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] ", "LC_ALL": "C.UTF-8"}
    # What ccache asks for to keep what uses a precompiled header; none of the sources has __TIME__ or a macro
    # that it would miss.
    environment["CCACHE_SLOPPINESS"] = ",".join(
        filter(None, (os.environ.get("CCACHE_SLOPPINESS"), "pch_defines,time_macros"))
    )
    if sys.stdout.isatty():
        environment["CLICOLOR_FORCE"] = "1"
        environment["GCC_COLORS"] = environment.get(
            "GCC_COLORS", "error=01;31:warning=01;35:note=01;36:locus=01"
        )
    progress = Progress(sys.stdout, verbose)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    try:
        with ending_by_exception():
            progress.feed(process.stdout)
    except (
        BaseException
    ):  # a compiler that went on alone would write its object after the next build has begun
        process.terminate()
        process.wait()
        raise
    progress.failed |= process.wait() != 0
    return progress


@contextlib.contextmanager
def ending_by_exception() -> Iterator[None]:
    """SIGTERM ends this process as Ctrl-C does, so that what it has started can be ended before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def default_jobs() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(len(os.sched_getaffinity(0)), int(memory / MEMORY_PER_JOB)))
