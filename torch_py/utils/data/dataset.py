"""Collections of examples."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from torch_py._C import _torch
from torch_py._tensor import Tensor

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Examples by index: subclasses define `__getitem__`, and `__len__` where the size is known."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Examples one after the other: subclasses define `__iter__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Example i is the tuple of element i of every tensor. Raises AssertionError when their first sizes differ."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise AssertionError(f"Size mismatch between tensors: got first sizes {[tensor.shape[0] for tensor in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class Subset(Dataset[T_co]):
    """The examples of `dataset` at `indices`."""

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[position] for position in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Several datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise ValueError(f"absolute value of index should not exceed dataset length: got {index} for {len(self)} examples")
        position = index % len(self)
        which = bisect.bisect_right(self.cumulative_sizes, position)
        return self.datasets[which][position - (self.cumulative_sizes[which - 1] if which else 0)]


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = None) -> list[Subset[Any]]:
    """Parts of the given sizes, or shares that sum to 1, in random order. Raises ValueError when they do not add up."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = [math.floor(len(dataset) * share) for share in lengths]
        for extra in range(len(dataset) - sum(sizes)):
            sizes[extra % len(sizes)] += 1
    else:
        sizes = list(lengths)  # type: ignore[arg-type]
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = _torch.randperm(sum(sizes), generator=generator).tolist()
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, accumulate(sizes))]
