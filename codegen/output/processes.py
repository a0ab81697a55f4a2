"""Shares independent pieces of work between this process and forked ones.

The pieces are numbered, and whoever is free takes the next one from a pipe. What a forked process did not
return, because it failed or was killed, is done here, where an error has its traceback.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

# Each process copies the pages of the program that it changes, so each costs memory.
_MOST_PROCESSES = 4
# What fits into the buffer of a pipe, from which a read takes one number.
_MOST_TURNS = 4096
_BYTES = 4


def available() -> int:
    """The number of processes that can work at the same time; 1 where forking is not safe."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    # macOS does not say which processors the process may use.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_PROCESSES)


def shared(
    count: int,
    work: Callable[[int], Result],
    processes: int,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Result]:
    """``work(n)`` of each n below ``count``, in order. Results of other processes travel as pickles.

    This process calls ``meanwhile`` before it joins the others.
    """
    turns = min(count, _MOST_TURNS)
    queue, fill = os.pipe()
    os.write(fill, b"".join(turn.to_bytes(_BYTES, "little") for turn in range(turns)))
    os.close(fill)

    first = os.getpid()

    def take() -> dict[int, Result]:
        found = {}
        while turn := os.read(queue, _BYTES):
            for n in range(int.from_bytes(turn, "little"), count, turns):
                _end_orphan(first)
                found[n] = work(n)
        return found

    children: list[tuple[int, int]] = []
    try:
        for _ in range(processes - 1):
            child = _fork(take)
            if child is None:
                break
            children.append(child)
        meanwhile()
        found = take()
    finally:
        # After an error here, nothing is left in the queue for the others.
        while os.read(queue, _BYTES * _MOST_TURNS):
            pass
        os.close(queue)
        returned = [_returned(*child) for child in children]

    for pickled in returned:
        found.update(pickle.loads(pickled) if pickled else {})
    return [found[n] if n in found else work(n) for n in range(count)]


def _end_orphan(first: int) -> None:
    """Ends a forked process whose first process was killed."""
    if first not in (os.getpid(), os.getppid()):
        os._exit(1)


def _fork(take: Callable[[], dict[int, Result]]) -> tuple[int, int] | None:
    """A process that calls ``take``: its id, and the pipe that it writes the pickled result to.

    None if the system allows no more processes.
    """
    result, write = os.pipe()
    try:
        process = os.fork()
    except OSError:
        os.close(result)
        os.close(write)
        return None

    if process:
        os.close(write)
        return process, result

    status = 1
    try:
        with os.fdopen(write, "wb") as file:
            file.write(pickle.dumps(take()))
        status = 0
    finally:
        # Ends without what the first process is to do at its end.
        os._exit(status)


def _returned(process: int, result: int) -> bytes:
    """What a forked process has returned, pickled; nothing if it failed."""
    with os.fdopen(result, "rb") as file:
        pickled = file.read()
    _, status = os.waitpid(process, 0)
    return pickled if status == 0 else b""
