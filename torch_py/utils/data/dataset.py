"""Datasets: collections of examples that are read by index or one after another."""

from __future__ import annotations

import abc
import bisect
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A collection of examples that are read by index. Subclasses define `__getitem__`, and `__len__` if the
    size is known.

    Example:
        >>> class Squares(torch.utils.data.Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> [batch.tolist() for batch in torch.utils.data.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4, 9]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co], abc.ABC):
    """A collection of examples that are read one after another. Subclasses define `__iter__`.

    With several workers each has a copy; use `get_worker_info` to give each a part.

    Example:
        >>> class Lines(torch.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(["a", "b", "c"])
        >>> list(torch.utils.data.DataLoader(Lines(), batch_size=2))
        [['a', 'b'], ['c']]
    """

    @abc.abstractmethod
    def __iter__(self) -> Iterator[T_co]: ...

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """A data set of tensors: example i is the tuple of element i of each.

    Args:
        tensors: the tensors, of the same size along the first dimension

    Raises:
        AssertionError: the sizes differ

    Example:
        >>> torch.utils.data.TensorDataset(torch.tensor([1, 2]), torch.tensor([3, 4]))[0]
        (tensor(1), tensor(3))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError(
                f"Size mismatch between tensors: got first sizes {[tensor.size(0) for tensor in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class Subset(Dataset[T_co]):
    """The examples of a data set at given indices.

    Args:
        dataset: the data set
        indices: the indices

    Example:
        >>> torch.utils.data.Subset(["a", "b", "c"], [2, 0])[0]
        'c'
    """

    def __init__(self, dataset: Dataset[T_co] | Sequence[T_co], indices: Sequence[int]) -> None:
        self.dataset: Any = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[position] for position in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        chosen = [self.indices[position] for position in indices]
        return _examples(self.dataset, chosen)

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Several data sets, one after another, as one.

    Args:
        datasets: the data sets, which have lengths

    Example:
        >>> torch.utils.data.ConcatDataset([[1, 2], [3]])[2]
        3
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Returns the running totals of the lengths."""
        return list(accumulate(len(dataset) for dataset in sequence))

    @property
    def cummulative_sizes(self) -> list[int]:
        """Deprecated misspelling of `cumulative_sizes`."""
        warnings.warn(
            "cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2
        )
        return self.cumulative_sizes

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        # Python ends a loop over the dataset at IndexError; an index that is too low raises ValueError.
        if index >= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} examples")
        if index < -len(self):
            raise ValueError(
                "absolute value of index should not exceed dataset length: "
                f"got {index} for {len(self)} examples"
            )

        position = index % len(self)
        member = bisect.bisect_right(self.cumulative_sizes, position)
        first = self.cumulative_sizes[member - 1] if member else 0
        return self.datasets[member][position - first]


class ChainDataset(IterableDataset[Any]):
    """Several iterable data sets, one after another, as one.

    Args:
        datasets: `IterableDataset`s

    Example:
        >>> class Count(torch.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(torch.utils.data.ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from self._checked(dataset)

    def __len__(self) -> int:
        return sum(len(self._checked(dataset)) for dataset in self.datasets)

    @staticmethod
    def _checked(dataset: Any) -> Any:
        if not isinstance(dataset, IterableDataset):
            raise AssertionError("ChainDataset only supports IterableDataset")
        return dataset


class StackDataset(Dataset[Any]):
    """Several data sets in parallel: example i is the tuple of example i of each, or a dict if they are given
    by name.

    Args:
        args: the data sets
        kwargs: the data sets by name

    Raises:
        ValueError: the lengths differ, there are no data sets, or some have names and others have not

    Example:
        >>> torch.utils.data.StackDataset(image=[1, 2], label=["a", "b"])[1]
        {'image': 2, 'label': 'b'}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")

        self.datasets: Any = kwargs or args
        members = list(kwargs.values() or args)
        self._length = len(members[0])
        if any(len(dataset) != self._length for dataset in members):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        members = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        rows = list(zip(*(_examples(dataset, indices) for dataset in members)))
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, row)) for row in rows]
        return rows

    def __len__(self) -> int:
        return self._length


def _examples(dataset: Any, indices: list[int]) -> list[Any]:
    """Returns the examples at `indices`, read in one call if the dataset has `__getitems__`.

    Raises ValueError if that returns a different number of examples.
    """
    read_several = getattr(dataset, "__getitems__", None)
    if not callable(read_several):
        return [dataset[index] for index in indices]

    examples: list[Any] = read_several(indices)
    if len(examples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(examples)}"
        )
    return examples


def random_split(
    dataset: Dataset[Any] | Sequence[Any],
    lengths: Sequence[int | float],
    generator: _C.Generator | None = None,
) -> list[Subset[Any]]:
    """Divides a data set at random into parts.

    Args:
        dataset: the data set
        lengths: the sizes of the parts, or shares that sum to 1
        generator: the source of randomness; default None, the default generator

    Raises:
        ValueError: the sizes do not add up, or a share is negative or above 1

    Example:
        >>> parts = torch.utils.data.random_split(range(10), [0.7, 0.3])
        >>> [len(part) for part in parts]
        [7, 3]
    """
    count = len(dataset)  # type: ignore[arg-type]
    sizes: list[Any] = list(lengths)

    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = _sizes_of_shares(count, lengths)
    if sum(sizes) != count:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")

    order = _torch.randperm(sum(sizes), generator=generator).tolist()
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, accumulate(sizes))]


def _sizes_of_shares(count: int, shares: Sequence[float]) -> list[int]:
    """Returns the size of each part, rounded down; the first parts get one each of the remaining examples."""
    for index, share in enumerate(shares):
        if share < 0 or share > 1:
            raise ValueError(f"Fraction at index {index} is not between 0 and 1")

    sizes = [math.floor(count * share) for share in shares]
    for extra in range(count - sum(sizes)):
        sizes[extra % len(sizes)] += 1

    for index, size in enumerate(sizes):
        if size == 0:
            warnings.warn(
                f"Length of split at index {index} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return sizes
