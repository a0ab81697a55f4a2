"""What runs in a worker process: a loop that fetches what it is asked for."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_py import _C
from torch_py.multiprocessing._parent import when_parent_ends
from torch_py.multiprocessing._sockets import Closed, WorkerEnd
from torch_py.random import manual_seed
from torch_py.utils.data._utils.fetch import make_fetcher

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds: how long a worker may take to end, and how often it is looked after


@dataclass
class WorkerInfo:
    """Which worker this is. `dataset` is its own copy, `seed` what its generators were started from."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


class _Process:
    """What this process is: nothing in particular, or a worker with a pool for what it sends."""

    info: WorkerInfo | None = None
    pool: Any = None
    pool_owner: int = -1


_process = _Process()


def get_worker_info() -> WorkerInfo | None:
    """The WorkerInfo of the worker process of a DataLoader that this is; None in other processes."""
    return _process.info


def current_pool() -> Any:
    """Where a worker makes tensors that it will send; None in other processes, also in children of a
    worker."""
    return _process.pool if _process.pool is not None and _process.pool_owner == os.getpid() else None


class ExceptionWrapper:
    """An exception on its way to another process: its type and its traceback as text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, value, trace = exc_info if exc_info is not None else sys.exc_info()
        self.exc_type = kind
        self.where = where
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))

    def as_runtime_error(self) -> ExceptionWrapper:
        """The same with a type that every process knows."""
        self.exc_type = RuntimeError
        return self

    def reraise(self) -> None:
        """Raises the same type, with the traceback in the message; RuntimeError for a type that cannot be
        made of a message."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(_Verbatim(text))
        if getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            exception = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise exception


class _Verbatim(str):
    """KeyError shows the repr of its argument: lines stay lines."""

    def __repr__(self) -> str:
        return str(self)


class EndOfStream:
    """The answer of a worker whose iterable dataset has no more examples."""


@dataclass
class Plan:
    """What a worker is told at its start."""

    dataset: Any
    is_stream: bool
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    worker_init_fn: Callable[[int], None] | None
    base_seed: int
    num_workers: int

    def fetcher(self) -> Any:
        return make_fetcher(
            self.is_stream, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


def seed_everything(base_seed: int, worker_id: int) -> int:
    """Starts the generators of this library, Python and NumPy; every worker has other numbers. Returns the
    seed of the first two."""
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    if "numpy" in sys.modules:
        import numpy

        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))
    return seed


def _leave() -> None:
    """Without the main process nobody wants the batch that is being made, and nobody would end a worker that
    hangs in it."""
    time.sleep(MP_STATUS_CHECK_INTERVAL)
    os._exit(1)


def worker_main(plan: Plan, worker_id: int, connection: Any) -> None:
    """Answers requests until the main process closes the connection."""
    # An interrupt is for the main process, which ends its workers; until here it was held back since before
    # they started.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    when_parent_ends(_leave)
    _C.set_num_threads(1)
    end = WorkerEnd(connection)
    seed = seed_everything(plan.base_seed, worker_id)
    _process.info = WorkerInfo(worker_id, plan.num_workers, seed, plan.dataset)
    _process.pool = end.pool
    _process.pool_owner = os.getpid()
    try:
        _Loop(plan, worker_id, end).run()
    except (Closed, KeyboardInterrupt):
        pass  # the main process has what it wanted, is gone, or was interrupted as well


class _Loop:
    def __init__(self, plan: Plan, worker_id: int, end: WorkerEnd) -> None:
        self.plan = plan
        self.id = worker_id
        self.end = end
        self.epoch = -1
        self.fetcher: Any = None
        self.ended = False
        self.failure: ExceptionWrapper | None = None
        if plan.worker_init_fn is not None:
            self.failure = self._attempt(plan.worker_init_fn, worker_id)

    def _attempt(self, function: Callable[..., Any], *arguments: Any) -> ExceptionWrapper | None:
        try:
            function(*arguments)
        except Exception:
            return self._wrap()
        return None

    def _wrap(self) -> ExceptionWrapper:
        return ExceptionWrapper(where=f"in DataLoader worker process {self.id}")

    def run(self) -> None:
        while True:
            epoch, number, index, reusable, dropped = self.end.receive()
            self.end.pool.release(reusable, dropped)
            if epoch != self.epoch:
                self._start(epoch)
            answer = self._answer(index)
            try:
                self.end.send((epoch, number, answer, self.end.pool.trim()))
            except (Closed, KeyboardInterrupt):
                raise
            except Exception:  # it cannot be pickled, or descriptors have run out
                failure = answer if isinstance(answer, ExceptionWrapper) else self._wrap()
                self.end.send((epoch, number, failure.as_runtime_error(), []))

    def _start(self, epoch: int) -> None:
        self.epoch = epoch
        self.ended = False
        if self.failure is None or self.fetcher is not None:
            self.failure = self._attempt(self._make_fetcher)

    def _make_fetcher(self) -> None:
        self.fetcher = self.plan.fetcher()

    def _answer(self, index: Any) -> Any:
        if self.failure is not None:
            failure = self.failure
            self.failure = None
            self.ended = self.fetcher is None
            return failure
        if self.ended:
            return EndOfStream()
        try:
            return self.fetcher.fetch(index)
        except StopIteration:
            if not self.plan.is_stream:
                return self._wrap()
            self.ended = True
            return EndOfStream()
        except Exception:
            return self._wrap()
