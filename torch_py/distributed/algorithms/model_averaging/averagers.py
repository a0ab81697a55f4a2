"""When processes average their parameters. The average of one process is its own."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

from torch_py.distributed._world import GroupMember

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Averages parameters when its rule says so, and counts the calls in `step`."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = GroupMember.of(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Any) -> None: ...


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps, after `warmup_steps`.

    Raises ValueError for a negative `warmup_steps` or a `period` that is not positive.
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost of "
                "all-reducing parameters will be no less than the cost of all-reducing gradients by "
                "DistributedDataParallel in the backward pass.",
                stacklevel=2,
            )
        self.warmup_steps = warmup_steps
        self.period = period

    def average_parameters(self, params: Any) -> None:
        """Counts the step. The parameters of the only process are their average."""
        self.step += 1
