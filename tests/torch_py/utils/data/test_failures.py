"""A DataLoader whose worker raises, dies or hangs, or whose main process ends: it never hangs or leaks."""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

data: Any = importlib.import_module(f"{torch.__name__}.utils.data")
DataLoader = data.DataLoader
SECONDS = 120  # for processes on a busy machine
ROOT = Path(__file__).resolve().parents[4]


class Doing(data.Dataset):
    """A dataset of numbers that calls `action` for example 3."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        if index == 3:
            self.action()
        return index


def throw(error: BaseException) -> None:
    raise error


class TwoArguments(Exception):
    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(first, second)


def hang() -> None:
    multiprocessing.Event().wait()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that hang are terminated soon."""
    if torch.__name__ == "torch_py":
        monkeypatch.setattr(
            importlib.import_module("torch_py.utils.data._utils.worker_pool"), "MP_STATUS_CHECK_INTERVAL", 0.2
        )


# -- exceptions
# ------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad example"), ValueError),
        (KeyError("bad example"), KeyError),
        (FileNotFoundError(2, "bad example"), FileNotFoundError),
        (TwoArguments("bad example", 2), RuntimeError),
    ],
    ids=["ValueError", "KeyError", "FileNotFoundError", "one with other arguments"],
)
def test_an_exception_has_its_type_and_traceback(error: Exception, kind: type) -> None:
    iterator = iter(DataLoader(Doing(functools.partial(throw, error)), num_workers=2, timeout=SECONDS))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(kind) as caught:
        next(iterator)
    text = str(caught.value)
    assert (
        f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback (most recent "
        "call last):\n" in text
    )
    assert "in throw\n    raise error" in text and "bad example" in text and "__getitem__" in text
    assert [int(batch) for batch in iterator] == [4, 5, 6, 7]  # other workers are not affected


def test_exceptions_elsewhere() -> None:
    def fails(*_: Any) -> None:
        raise ValueError("this one fails")

    class Stream(data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            yield 0
            fails()

    class Broken(data.IterableDataset):
        def __iter__(self) -> Iterator[int]:
            raise ValueError("this one fails")

    for options in ({"worker_init_fn": fails}, {"collate_fn": fails}):
        with pytest.raises(ValueError, match="this one fails"):
            list(DataLoader(range(4), num_workers=2, timeout=SECONDS, **options))
    for dataset in (Stream(), Broken()):
        with pytest.raises(ValueError, match="this one fails"):
            list(DataLoader(dataset, num_workers=2, timeout=SECONDS))


@only_torch_py
def test_batches_and_exceptions_that_cannot_be_sent() -> None:  # PyTorch waits for them forever
    class Local(Exception):
        pass

    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(
            DataLoader(
                [torch.ones(2, requires_grad=True) * 2], batch_size=None, num_workers=1, timeout=SECONDS
            )
        )
    with pytest.raises(RuntimeError, match="local object.*lambda"):
        list(DataLoader([lambda: None], batch_size=None, num_workers=1, timeout=SECONDS))
    with pytest.raises(RuntimeError, match="(?s)bad example"):
        list(
            DataLoader(Doing(functools.partial(throw, Local("bad example"))), num_workers=1, timeout=SECONDS)
        )


# -- workers that end or hang
# ------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "cause"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "is killed by signal: Killed"),
        (lambda: os._exit(7), "exited unexpectedly with exit code 7"),
    ],
    ids=["killed", "exited"],
)
def test_a_worker_that_dies(action: Callable[[], object], cause: str) -> None:
    iterator = iter(DataLoader(Doing(action), num_workers=2, timeout=SECONDS, prefetch_factor=1))
    pids = [worker.pid for worker in iterator._workers]
    with pytest.raises(
        RuntimeError, match=rf"DataLoader worker \(pid\(s\) {pids[1]}\) exited unexpectedly"
    ) as caught:
        for _ in iterator:
            pass
    assert f"DataLoader worker (pid {pids[1]}) {cause}" in str(caught.value.__cause__)


def test_a_worker_that_is_killed_while_it_waits() -> None:
    iterator = iter(DataLoader(range(8), num_workers=1, timeout=SECONDS))
    assert int(next(iterator)) == 0
    worker = iterator._workers[0]
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=str(worker.pid)):
        for _ in iterator:
            pass
    worker.join(SECONDS)


@only_torch_py
def test_dead_workers_are_found_while_their_children_live(impatient: None) -> None:
    read, write = os.pipe()

    def leave_a_child() -> None:
        if os.fork() == 0:
            os.close(write)
            os.read(read, 1)  # it holds the sockets of its parent until the test has ended
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    try:
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(DataLoader(Doing(leave_a_child), num_workers=1, timeout=SECONDS))
    finally:
        os.close(write)
        os.close(read)


def test_a_worker_that_hangs(impatient: None) -> None:
    iterator = iter(DataLoader(Doing(hang), num_workers=2, timeout=0.5))
    workers = iterator._workers
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.5 seconds") as caught:
        for _ in iterator:
            pass
    if torch.__name__ == "torch_py":
        assert all(str(worker.pid) in str(caught.value) for worker in workers)
    del iterator, caught
    for worker in workers:
        worker.join(SECONDS)
        assert not worker.is_alive()


@only_torch_py
def test_after_a_failure_the_next_pass_has_new_workers() -> None:
    loader = DataLoader(Doing(lambda: os._exit(1)), num_workers=1, timeout=SECONDS, persistent_workers=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="exited unexpectedly"):
            list(loader)
    assert [int(batch) for batch in iter(DataLoader(range(2), num_workers=1, timeout=SECONDS))] == [0, 1]


# -- the main process ends
# ------------------------------------------------------------

MAIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a shell start without it
import multiprocessing, os, sys
import torch_py as torch
from torch_py.utils.data import DataLoader, Dataset
from torch_py.utils.data._utils import worker
worker.MP_STATUS_CHECK_INTERVAL = 0.3

class Slow(Dataset):
    def __len__(self): return int(sys.argv[1])
    def __getitem__(self, index):
        if index >= 6: multiprocessing.Event().wait()
        return torch.full((3, 100, 100), float(index))

if __name__ == "__main__":
    settings = dict(batch_size=2, num_workers=2)
    loaders = [DataLoader(Slow(), prefetch_factor=prefetch, **settings) for prefetch in (1, 4)]
    iterators = [iter(loader) for loader in loaders]
    for iterator in iterators: next(iterator)
    print("ready", flush=True)
    {then}
"""


def start(then: str, examples: str = "100") -> subprocess.Popen[str]:
    """Starts a main process with four workers in its own group; waits until each loader gave a batch."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN.replace("{then}", then), examples],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> str:
    """Reads standard error to its end, which comes when the main process and all its workers have ended."""
    try:
        return process.communicate(timeout=SECONDS)[1]
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@only_torch_py
@pytest.mark.parametrize("last", ["4", "100"], ids=["idle workers", "and hanging ones"])
def test_workers_end_when_the_main_process_is_killed(last: str) -> None:
    before = os.listdir("/dev/shm")
    process = start("sys.stdin.read()", last)
    process.kill()
    assert end(process) == "" and process.returncode == -signal.SIGKILL
    assert [name for name in os.listdir("/dev/shm") if name not in before and "torch" in name] == []


@only_torch_py
def test_an_interrupt_ends_all() -> None:
    process = start("[batch for batch in iterators[0]]")
    os.killpg(process.pid, signal.SIGINT)
    text = end(process)
    assert process.returncode == -signal.SIGINT and text.count("KeyboardInterrupt") == 1, text


@only_torch_py
def test_iterators_that_are_there_at_the_exit() -> None:
    process = start("sys.exit(0)")
    assert end(process) == "" and process.returncode == 0
