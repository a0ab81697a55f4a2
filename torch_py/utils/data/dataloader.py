"""Iterating over a dataset in batches, in the process of the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from torch_py.utils.data.collate import default_collate, default_convert
from torch_py.utils.data.dataset import IterableDataset
from torch_py.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, random_seed

T_co = TypeVar("T_co", covariant=True)


class DataLoader(Generic[T_co]):
    """Batches of `batch_size` examples (None: single examples), shuffled anew for every iteration with `shuffle`.

    `sampler` or `batch_sampler` choose the order instead; `collate_fn` makes a batch out of a list of examples; `generator` is the source
    of randomness. Raises ValueError for settings that exclude one another, NotImplementedError for num_workers > 0.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if num_workers > 0:
            raise NotImplementedError(f"DataLoader: worker processes are not part of this build of torch_py; got num_workers={num_workers}")
        if pin_memory:
            raise NotImplementedError("DataLoader: pin_memory needs an accelerator, and this build of torch_py has none")
        self.dataset, self.num_workers, self.pin_memory = dataset, num_workers, pin_memory
        self.generator, self.timeout, self.worker_init_fn = generator, timeout, worker_init_fn
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        self._iterable = isinstance(dataset, IterableDataset)
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and self.batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, self.batch_size, drop_last)  # type: ignore[arg-type]
        self.sampler, self.batch_sampler = sampler, batch_sampler
        batched = self.batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn if collate_fn is not None else (default_collate if batched else default_convert)

    def __iter__(self) -> Iterator[Any]:
        random_seed(self.generator)  # one draw per iteration is set aside for workers, so that their number does not change the order
        return self._iterate_stream() if self._iterable else self._iterate_indices()

    def _iterate_indices(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler or ():
                yield self.collate_fn(self.dataset[index])
            return
        for batch in self.batch_sampler:
            if hasattr(self.dataset, "__getitems__"):
                yield self.collate_fn(self.dataset.__getitems__(batch))
            else:
                yield self.collate_fn([self.dataset[index] for index in batch])

    def _iterate_stream(self) -> Iterator[Any]:
        examples = iter(self.dataset)
        if self.batch_size is None:
            yield from (self.collate_fn(example) for example in examples)
            return
        while batch := list(islice(examples, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check(dataset: Any, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if isinstance(dataset, IterableDataset):
        if shuffle or sampler is not None or batch_sampler is not None:
            raise ValueError("DataLoader with IterableDataset: expected no shuffle, sampler or batch_sampler option, as it has its own order")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def get_worker_info() -> None:
    """None: examples are made in the main process."""
    return None
