"""The program of a worker process: a loop that fetches the batches the main process asks for."""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.multiprocessing._parent import when_parent_ends
from torch_py.multiprocessing._sockets import Closed, WorkerEnd
from torch_py.random import manual_seed
from torch_py.utils.data._utils.fetch import MapFetcher, StreamFetcher, make_fetcher

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds that a worker may take to end


@dataclass
class WorkerInfo:
    """Describes a worker process: its number, its seed, and `dataset`, its own copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


class _Process:
    """The state of this process: in a worker, its description and the pool for the memory that it sends."""

    info: WorkerInfo | None = None
    pool: Any = None
    pool_owner: int = -1


_process = _Process()


def get_worker_info() -> WorkerInfo | None:
    """Describes the worker process of a `DataLoader` that calls it: `id`, `num_workers`, `seed` and
    `dataset`.

    Returns:
        None outside of a worker.

    Example:
        >>> torch.utils.data.get_worker_info() is None
        True
    """
    return _process.info


def current_pool() -> Any:
    """The pool in which a worker allocates the tensors that it will send.

    None in other processes, including children of a worker.
    """
    return _process.pool if _process.pool is not None and _process.pool_owner == os.getpid() else None


class ExceptionWrapper:
    """An exception on its way to another process: its type and its traceback as text."""

    def __init__(self, exc_info: tuple[Any, Any, Any] | None = None, where: str = "in background") -> None:
        kind, value, trace = exc_info if exc_info is not None else sys.exc_info()
        self.exc_type: Any = kind
        self.where = where
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))

    def as_runtime_error(self) -> ExceptionWrapper:
        """Changes the type to RuntimeError, which every process can unpickle."""
        self.exc_type = RuntimeError
        return self

    def reraise(self) -> None:
        """Raises the exception again, with its traceback in the message.

        Raises RuntimeError if the type cannot be built from a message.
        """
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
    """Text whose repr is the text itself. KeyError shows the repr of its argument; this keeps line breaks."""

    def __repr__(self) -> str:
        return str(self)


class EndOfStream:
    """The answer of a worker whose iterable dataset has no more examples."""


@dataclass
class Plan:
    """The settings that a worker receives at its start."""

    dataset: Any
    is_stream: bool
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    worker_init_fn: Callable[[int], None] | None
    base_seed: int
    num_workers: int

    def fetcher(self) -> MapFetcher | StreamFetcher:
        """A fetcher with these settings."""
        return make_fetcher(
            self.is_stream, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


def seed_everything(base_seed: int, worker_id: int) -> int:
    """Seeds the generators of this library, Python and NumPy, differently in each worker.

    Returns the seed of the first two.
    """
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    if "numpy" in sys.modules:
        import numpy

        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))
    return seed


def _leave() -> None:
    """Ends this worker after the main process has ended, even if it hangs in the dataset."""
    time.sleep(MP_STATUS_CHECK_INTERVAL)
    os._exit(1)


def worker_main(plan: Plan, worker_id: int, connection: socket.socket) -> None:
    """Answers requests until the main process closes the connection."""
    # An interrupt is meant for the main process, which ends its workers. The signal has been blocked since
    # before this process started.
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
        pass  # the main process is finished, has ended, or was interrupted as well


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
            except Exception:  # the answer cannot be pickled, or descriptors have run out
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


__getattr__ = _lacking(__name__)
