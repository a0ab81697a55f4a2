"""`DataLoader`, which iterates over a dataset in batches, by itself or with worker processes."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from torch_py import _C
from torch_py.utils.data import _utils as _utils
from torch_py.utils.data._iterators import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from torch_py.utils.data._utils.collate import default_collate, default_convert
from torch_py.utils.data._utils.worker import get_worker_info
from torch_py.utils.data.dataset import Dataset, IterableDataset
from torch_py.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
_T_co = T_co  # type: ignore[misc]
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]
_DEFAULT_PREFETCH = 2
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """Yields None without end: an iterable dataset has no indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Iterates over a data set in batches, optionally in random order and prepared by other processes.

    Args:
        dataset: a `Dataset` or anything with `__getitem__` and `__len__`, or an `IterableDataset`
        batch_size: the number of examples of a batch; None yields single examples; default 1
        shuffle: whether the order is random and new in each pass; default None, which is False
        sampler: an iterable of indices, instead of `shuffle`; default None
        batch_sampler: an iterable of lists of indices, instead of `batch_size`, `shuffle`, `sampler` and
            `drop_last`; default None
        num_workers: the number of processes that prepare batches; 0 (default) prepares them in the main
            process
        collate_fn: makes a batch of a list of examples; default None, `default_collate`
        pin_memory: whether batches are in page-locked memory, from which copies to an accelerator need not
            wait; default False
        drop_last: whether a last batch that is too small is left out; default False
        timeout: how many seconds to wait for a batch of a worker; 0 (default) for any time
        worker_init_fn: is called in each worker with its number; default None
        multiprocessing_context: how processes start: a start method or a context; default None
        generator: the source of randomness; default None
        prefetch_factor: how many batches each worker prepares ahead; default None, which is 2 with workers
        persistent_workers: whether workers live as long as the loader instead of one pass; default False
        pin_memory_device: the accelerator of `pin_memory`; default '', the present one
        in_order: whether batches come in order instead of as they become ready; default True

    Raises:
        ValueError: settings exclude one another
        RuntimeError: a worker dies, or does not answer within `timeout`; exceptions in a worker are raised
            again with their type and traceback

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5), torch.arange(5) * 10)
        >>> loader = torch.utils.data.DataLoader(data, batch_size=2)
        >>> for x, y in loader:
        ...     print(x.tolist(), y.tolist())
        [0, 1] [0, 10]
        [2, 3] [20, 30]
        [4] [40]
    """

    __initialized = False
    _iterator: Any = None

    def __init__(
        self,
        dataset: Dataset[T_co] | Sequence[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: _collate_fn_t | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: _worker_init_fn_t | None = None,
        multiprocessing_context: str | BaseContext | None = None,
        generator: _C.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)

        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.timeout = timeout
        self.prefetch_factor = (
            _DEFAULT_PREFETCH if num_workers > 0 and prefetch_factor is None else prefetch_factor
        )

        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device

        self.worker_init_fn = worker_init_fn
        self.in_order = in_order
        self.multiprocessing_context = multiprocessing_context

        self._dataset_kind = (
            _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        )

        # The order of the examples: what is given, or what batch_size and shuffle ask for.
        _check_order(self._is_stream, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
            drop_last = False
        if sampler is None:
            sampler = self._default_sampler(shuffle, generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)

        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler

        self.generator = generator
        self.persistent_workers = persistent_workers

        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn

        self._IterableDataset_len_called: int | None = None

        self.__initialized = True
        self.check_worker_number_rationality()

    def _default_sampler(self, shuffle: bool | None, generator: _C.Generator | None) -> Iterable[Any]:
        if self._is_stream:
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=generator)
        return SequentialSampler(self.dataset)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """The context in which workers are started; None for the default one."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: str | BaseContext | None) -> None:
        self._context = None if value is None else _checked_context(value, self.num_workers)

    def __setattr__(self, name: str, value: object) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None or self._iterator._pool is None:  # the first pass, or its workers failed
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _is_stream(self) -> bool:
        """Whether examples come one after another, rather than by index.

        Subclasses may set `_dataset_kind`, or have an `__init__` that does not call that of this class.
        """
        kind = vars(self).get("_dataset_kind")
        return isinstance(self.dataset, IterableDataset) if kind is None else kind == _DatasetKind.Iterable

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if not self._is_stream:
            return len(self._index_sampler)

        count = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warns if there are more workers than processors that this process may use."""
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers and available is not None and self.num_workers > available:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested "
                f"max number of worker in current system is {available}, which is smaller than what this "
                "DataLoader is going to create. Please be aware that excessive worker creation might get "
                "DataLoader running slow or even freeze, lower the worker number to avoid potential "
                "slowness/freeze if necessary.",
                stacklevel=3,
            )


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")

    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")

    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_order(
    is_stream: bool,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Iterable[Any] | None,
    batch_sampler: Iterable[Any] | None,
    drop_last: bool,
) -> None:
    # An iterable dataset determines the order itself.
    if is_stream:
        for name, value, unspecified in (
            ("shuffle", shuffle, not shuffle),
            ("sampler", sampler, sampler is None),
            ("batch_sampler", batch_sampler, batch_sampler is None),
        ):
            if not unspecified:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, "
                    f"but got {name}={value}"
                )

    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")

    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


def _checked_context(value: str | BaseContext, num_workers: int) -> BaseContext:
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
            f"got num_workers={num_workers}"
        )

    if isinstance(value, str):
        methods = multiprocessing.get_all_start_methods()
        if value not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but "
                f"got multiprocessing_context={value!r}"
            )
        return multiprocessing.get_context(value)

    if not isinstance(value, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the "
            f"start method, but got multiprocessing_context={value}"
        )

    return value
