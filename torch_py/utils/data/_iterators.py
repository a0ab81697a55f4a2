"""One pass over a DataLoader, in the process of the caller or with worker processes."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import multiprocessing
import time
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from torch_py.utils.data._utils.fetch import make_fetcher
from torch_py.utils.data._utils.pin_memory import pin_memory, wants_pinned
from torch_py.utils.data._utils.worker import EndOfStream, ExceptionWrapper, Plan
from torch_py.utils.data._utils.worker_pool import WorkerPool
from torch_py.utils.data.sampler import random_seed


class _BaseDataLoaderIter:
    """The parts that both kinds share: the order of the indices, the count of batches, and the seed for
    workers, which is drawn even without workers."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._is_stream = loader._is_stream
        self._collate_fn = loader.collate_fn
        self._drop_last = loader.drop_last
        self._auto_collation = loader._auto_collation
        self._num_workers = loader.num_workers
        self._persistent_workers = loader.persistent_workers
        self._timeout = loader.timeout

        self._pin_memory = wants_pinned(loader)

        self._index_sampler = loader._index_sampler
        self._length_said = loader._IterableDataset_len_called
        self._sampler_iter = iter(self._index_sampler)

        self._base_seed = random_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._sampler_iter = iter(loader._index_sampler)
        self._num_yielded = 0
        self._length_said = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._is_stream and self._length_said is not None and self._num_yielded > self._length_said:
            self._warn_of_length(self._length_said)
        return data

    def _warn_of_length(self, expected: int) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {expected}(when accessing "
            f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )

        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker: see get_worker_info()."
            )
        warnings.warn(text, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0 or self._num_workers != 0:
            raise AssertionError(
                f"expected num_workers=0 and timeout=0 without workers, got {self._num_workers} and "
                f"{self._timeout}"
            )
        self._fetcher = make_fetcher(
            self._is_stream, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        data = self._fetcher.fetch(self._next_index())
        return pin_memory(data) if self._pin_memory else data


@functools.cache
def _load_numpy() -> None:
    """Imports NumPy before workers are forked; otherwise each of them would load it only to seed it."""
    if importlib.util.find_spec("numpy") is not None:
        importlib.import_module("numpy")


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Sends task n to worker n modulo the number of workers and keeps `prefetch_factor` tasks per worker
    under way.

    Batches come out in the order of the tasks. With `in_order=False` they come out in the order in which they
    become ready, and the next task goes to the worker with the fewest tasks.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        _load_numpy()

        self._in_order = loader.in_order
        prefetch_factor = 2 if loader.prefetch_factor is None else loader.prefetch_factor

        if prefetch_factor <= 0:
            raise AssertionError(
                "prefetch_factor must be positive for worker processes to be asked for anything, "
                f"got {prefetch_factor}"
            )

        self._most_under_way = prefetch_factor * self._num_workers
        context = loader.multiprocessing_context or multiprocessing
        self._pool: WorkerPool | None = None

        plan = Plan(
            self._dataset,
            self._is_stream,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            loader.worker_init_fn,
            self._base_seed,
            self._num_workers,
        )

        self._pool = WorkerPool(context, plan)
        # Pins what has arrived while the program works on the batch before.
        self._pinner = ThreadPoolExecutor(1, "pin_memory") if self._pin_memory else None
        self._epoch = -1
        self._reset(loader, first_iter=True)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        if not first_iter:
            super()._reset(loader)
        self._epoch += 1  # answers to an earlier pass are dropped
        self._next_task = self._next_wanted = 0
        self._owners: dict[int, int] = {}  # the worker of each task that is under way
        self._ready: dict[int, Any] = {}
        # False for a worker whose part of an iterable dataset has ended.
        self._active = [True] * self._num_workers
        self._turn = itertools.cycle(range(self._num_workers))
        for _ in range(self._most_under_way):
            self._try_put_index()

    @property
    def _workers(self) -> list[Any]:
        return [] if self._pool is None else [worker.process for worker in self._pool.workers]

    def _try_put_index(self) -> None:
        if self._pool is None or not any(self._active):
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        worker = self._choose_worker()
        self._owners[self._next_task] = worker
        self._pool.request(worker, self._epoch, self._next_task, index)
        self._next_task += 1

    def _choose_worker(self) -> int:
        if not self._in_order:
            busy = list(self._owners.values())
            return min(
                (number for number in range(self._num_workers) if self._active[number]), key=busy.count
            )
        return next(number for number in self._turn if self._active[number])

    def _next_data(self) -> Any:
        while self._pool is not None:
            found = self._take_ready()
            if found is not None:
                return self._process_data(found[0])
            if not self._owners:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            self._receive()
        raise StopIteration

    def _take_ready(self) -> tuple[Any] | None:
        """The batch that comes out next, as a tuple of one, or None if it has not arrived."""
        if not self._in_order:
            return (self._ready.pop(next(iter(self._ready))),) if self._ready else None

        while self._next_wanted < self._next_task and self._next_wanted not in self._ready:
            owner = self._owners.get(self._next_wanted)
            if owner is not None and self._active[owner]:
                return None
            self._owners.pop(self._next_wanted, None)  # its worker has no further examples
            self._next_wanted += 1

        if self._next_wanted not in self._ready:
            return None
        self._next_wanted += 1
        return (self._ready.pop(self._next_wanted - 1),)

    def _receive(self) -> None:
        assert self._pool is not None
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None

        try:
            answers = self._pool.wait(deadline)
        except BaseException:  # even an interrupt loses what was being received
            self._shutdown_workers()
            raise

        if not answers:
            pids = ", ".join(map(str, self._pool.pids))
            raise RuntimeError(
                f"DataLoader timed out after {self._timeout} seconds, waiting for its workers (pid(s) {pids})"
            )

        for epoch, task, data in answers:
            if epoch == self._epoch and task in self._owners:
                self._accept(task, self._owners.pop(task), data)

    def _accept(self, task: int, worker: int, data: Any) -> None:
        if not isinstance(data, EndOfStream):
            pins = self._pinner is not None and not isinstance(data, ExceptionWrapper)
            self._ready[task] = self._pinner.submit(pin_memory, data) if pins else data  # type: ignore[union-attr]
            return
        if self._active[worker]:
            self._active[worker] = False
        self._try_put_index()

    def _process_data(self, data: Any) -> Any:
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data.result() if isinstance(data, Future) else data

    def _shutdown_workers(self) -> None:
        pool = self._pool
        self._pool = None
        self._owners = {}
        self._ready = {}
        if getattr(self, "_pinner", None) is not None:
            self._pinner.shutdown(wait=False, cancel_futures=True)  # type: ignore[union-attr]
        if pool is not None:
            pool.shutdown()

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self._shutdown_workers()
