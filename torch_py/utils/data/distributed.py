"""`DistributedSampler`, which divides a dataset among processes that train together."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sized
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Yields the indices of one process of several, which share the work: every num_replicas-th index of an
    order that is the same for all.

    All processes get the same number of indices: some from the start are repeated, or left out at the end
    with `drop_last`. Call `set_epoch` before each epoch for another order.

    Args:
        dataset: the data set, which has a length
        num_replicas: the number of processes; default None, that of the process group
        rank: the number of this process; default None, that in the process group
        shuffle: whether the order is random; default True
        seed: the seed of that order; default 0
        drop_last: whether indices are left out instead of repeated; default False

    Example:
        >>> sampler = torch.utils.data.DistributedSampler(range(5), num_replicas=2, rank=0, shuffle=False)
        >>> list(sampler)
        [0, 2, 4]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = _process_group().get_world_size()
        if rank is None:
            rank = _process_group().get_rank()

        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")

        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0

        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last

        count = len(dataset)
        if drop_last and count % num_replicas != 0:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            generator = _C.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = _torch.randperm(len(indices), generator=generator).tolist()

        if not self.drop_last and indices:
            repeats = math.ceil(self.total_size / len(indices))
            indices = indices * repeats

        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next pass over the data. Call it before each pass when shuffling."""
        self.epoch = epoch


def _process_group() -> Any:
    """The module torch_py.distributed. Raises RuntimeError if it is missing or not available."""
    try:
        distributed: Any = importlib.import_module("torch_py.distributed")
    except ModuleNotFoundError:
        raise RuntimeError("Requires distributed package to be available") from None
    if not distributed.is_available():
        raise RuntimeError("Requires distributed package to be available")
    return distributed
