"""Samplers: the order in which the examples of a dataset are visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from torch_py import _C
from torch_py._C import _torch

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base class of the iterables of indices, or of lists of indices, that a DataLoader visits."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """Yields the indices 0, 1, 2, ... of `data_source` in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def random_seed(generator: _C.Generator | None = None) -> int:
    """Returns a seed drawn from `generator`, by default from the global one."""
    return int(_torch.empty((), dtype=_C.int64).random_(generator=generator))


class RandomSampler(Sampler[int]):
    """Yields `num_samples` indices of `data_source` in random order, by default each index once.

    With `replacement` every index is drawn from all of them. Without, a new permutation begins when all have
    been drawn. Without `generator` each pass uses a new one, seeded from the global generator.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: _C.Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")

        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator

        self._num_samples = num_samples
        count = self.num_samples
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={count}")

    @property
    def num_samples(self) -> int:
        """The number of indices that one pass yields."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = _C.Generator()
            generator.manual_seed(random_seed())

        # Draws 32 indices at a time, so that a long pass does not need a long list.
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                shape = (min(32, self.num_samples - start),)
                indices = _torch.randint(high=size, size=shape, dtype=_C.int64, generator=generator)
                yield from indices.tolist()
            return

        if size == 0:
            raise ZeroDivisionError(
                f"RandomSampler: cannot draw {self.num_samples} indices from an empty dataset"
            )

        for start in range(0, self.num_samples, size):
            yield from _torch.randperm(size, generator=generator).tolist()[: self.num_samples - start]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Yields `indices` in random order."""

    def __init__(self, indices: Sequence[int], generator: _C.Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for position in _torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Yields `num_samples` random indices, index i with a probability proportional to ``weights[i]``.

    Without `replacement` no index is drawn twice.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: _C.Generator | None = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")

        self.weights = _C.as_tensor(weights, dtype=_C.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )

        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        indices = _torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from indices.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Yields lists of `batch_size` consecutive indices of `sampler`.

    The last list may be shorter; `drop_last` leaves it out.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")

        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []

        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
