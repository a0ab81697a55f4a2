"""Reads the examples of a batch from a dataset, in the same way in the main process and in workers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any


class MapFetcher:
    """Reads datasets that have indices: a list of indices gives a batch, a single index an example."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn

    def fetch(self, index: Any) -> Any:
        """The batch at the list of indices `index`, or the example at a single index."""
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        several = getattr(dataset, "__getitems__", None)
        return self.collate_fn([dataset[i] for i in index] if several is None else several(index))


class StreamFetcher:
    """Reads iterable datasets."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.iterator = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index: Any) -> Any:
        """The next examples, as many as `index` is long. Raises StopIteration at the end."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.iterator))

        batch = list(islice(self.iterator, len(index)))
        self.ended = len(batch) < len(index)
        if not batch or (self.ended and self.drop_last):
            raise StopIteration
        return self.collate_fn(batch)


def make_fetcher(
    is_stream: bool, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
) -> MapFetcher | StreamFetcher:
    """The fetcher for an iterable dataset (`is_stream`) or for one with indices."""
    return (StreamFetcher if is_stream else MapFetcher)(dataset, auto_collation, collate_fn, drop_last)
