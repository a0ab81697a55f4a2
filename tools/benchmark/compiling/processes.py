"""CPU seconds of a command with all the processes that it starts."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
# How long processes may live on after the command.
PATIENCE = 30.0


@dataclass(frozen=True)
class Finished:
    output: str
    errors: str
    succeeded: bool
    cpu_seconds: float


def run(command: list[str], folder: Path, environment: dict[str, str], timeout: float) -> Finished:
    """Runs a command to its end, and then waits for what it has left behind, such as pools of workers.

    Their processor time counts as well: orphans become children of this process.
    """
    adopt_orphans()
    before = _seconds_of_children()
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            errors += f"\nstopped after {timeout:.0f} s"

    _wait_for_orphans()
    return Finished(output, errors, process.returncode == 0, _seconds_of_children() - before)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parents end. Linux only; else nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_for_orphans() -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            found, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if found == 0:
            time.sleep(0.02)
