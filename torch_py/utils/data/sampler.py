"""Samplers: the order in which the examples of a dataset are visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, TypeVar

from torch_py import _C
from torch_py._C import _torch

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base class of the iterables of indices, or of lists of indices, that a `DataLoader` visits. Subclasses
    define `__iter__`, and `__len__` if the number is known.

    Example:
        >>> class Backwards(torch.utils.data.Sampler):
        ...     def __init__(self, size):
        ...         self.size = size
        ...     def __iter__(self):
        ...         return iter(range(self.size - 1, -1, -1))
        >>> loader = torch.utils.data.DataLoader([1, 2, 3], sampler=Backwards(3), batch_size=3)
        >>> list(loader)
        [tensor([3, 2, 1])]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """Yields the indices 0, 1, 2, ... in order.

    Args:
        data_source: the data set, which has a length

    Example:
        >>> list(torch.utils.data.SequentialSampler(["a", "b"]))
        [0, 1]
    """

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
    """Yields indices in random order.

    Without replacement, a new permutation begins when all indices have been drawn.

    Args:
        data_source: the data set, which has a length
        replacement: whether each index is drawn from all; default False
        num_samples: how many indices; default None, as many as there are examples
        generator: the source of randomness; default None, a new one in each pass, seeded by the default
            generator

    Example:
        >>> sorted(torch.utils.data.RandomSampler(["a", "b", "c"]))
        [0, 1, 2]
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
    """Yields given indices in random order.

    Args:
        indices: the indices
        generator: the source of randomness; default None, the default generator

    Example:
        >>> sorted(torch.utils.data.SubsetRandomSampler([4, 2]))
        [2, 4]
    """

    def __init__(self, indices: Sequence[int], generator: _C.Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for position in _torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Yields random indices, index i with a probability proportional to weights[i].

    Args:
        weights: the weights, which need not sum to 1
        num_samples: how many indices
        replacement: whether an index may be drawn several times; default True
        generator: the source of randomness; default None, the default generator

    Example:
        >>> list(torch.utils.data.WeightedRandomSampler([0.0, 1.0], num_samples=3))
        [1, 1, 1]
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
    """Yields lists of consecutive indices of another sampler.

    Args:
        sampler: an iterable of indices
        batch_size: the size of the lists
        drop_last: whether a last list that is shorter is left out

    Example:
        >>> list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
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
