"""`OneCycleLR`, a schedule that raises the rate once and then lowers it."""

from __future__ import annotations

import math
from typing import Any, Literal

from torch_py.optim.lr_scheduler._base import LRScheduler, check_optimizer, per_group
from torch_py.optim.lr_scheduler._momentum import set_momentum, start_momentum, uses_beta1
from torch_py.optim.optimizer import Optimizer


class OneCycleLR(LRScheduler):
    """Raises the learning rate once, and then lowers it far below where it began. Call `step` after each
    batch.

    The rate goes from max_lr / div_factor to `max_lr`, and then down to the first rate / final_div_factor.
    Momentum moves in the opposite direction.

    Source: Smith and Topin, Super-convergence (2017).

    Args:
        optimizer: the optimizer whose groups are changed
        max_lr: the highest rate, or one for each group
        total_steps: the number of steps; default None, epochs · steps_per_epoch
        epochs: the number of epochs; default None
        steps_per_epoch: the number of batches of an epoch; default None
        pct_start: the share of the steps of the way up; default 0.3
        anneal_strategy: 'cos' (default) or 'linear'
        cycle_momentum: whether momentum moves too; default True
        base_momentum: the lowest momentum; default 0.85
        max_momentum: the highest momentum; default 0.95
        div_factor: default 25.0
        final_div_factor: default 1e4
        three_phase: whether to return to the first rate as fast as it went up before going further down;
            default False
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: a setting is out of range, or more steps are made

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.04, 0.9505, 0.6113, 0.1883]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _count(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if anneal_strategy not in _ANNEALING:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )

        self._anneal_func_type = anneal_strategy
        largest = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, largest):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor

        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            tops = per_group("max_momentum", optimizer, max_momentum)
            bases = per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                start_momentum(optimizer, bases, tops, self.use_beta1)

        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._current()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )

        begin: float = 0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end

        share = (step - begin) / (end - begin)
        anneal = _ANNEALING[self._anneal_func_type]

        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                momentum = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                set_momentum(group, momentum, self.use_beta1)

        return [anneal(group[phase["start_lr"]], group[phase["end_lr"]], share) for group in groups]


def _cosine(start: Any, end: Any, share: float) -> Any:
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def _linear(start: Any, end: Any, share: float) -> Any:
    return (end - start) * share + start


_ANNEALING = {"cos": _cosine, "linear": _linear}


def _count(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The number of steps, given directly or as a product."""
    given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    if total_steps is not None:
        given = {"total_steps": total_steps}
    if None in given.values():
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")

    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")

    return math.prod(value for value in given.values() if value is not None)


def _phases(total: int, share: float, three_phase: bool) -> list[dict[str, Any]]:
    """For each phase its last step, and the settings of a group between which it moves."""
    rows = [(float(share * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three_phase:
        rows.append((float(2 * share * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        rows.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        rows.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    return [
        dict(zip(("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum"), row)) for row in rows
    ]
