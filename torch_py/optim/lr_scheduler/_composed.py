"""Schedules that are composed of other schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from torch_py.optim.lr_scheduler._base import LRScheduler, set_value, values_of
from torch_py.optim.lr_scheduler._plateau import ReduceLROnPlateau
from torch_py.optim.optimizer import Optimizer


class _ComposedLR(LRScheduler):
    """Base class of schedules that save the states of their parts with their own."""

    _schedulers: Sequence[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """The state of the schedule, with the state of each part."""
        state = {
            name: value for name, value in vars(self).items() if name not in ("optimizer", "_schedulers")
        }
        state["_schedulers"] = [schedule.state_dict() for schedule in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for schedule, state in zip(self._schedulers, state_dict["_schedulers"]):
            schedule.load_state_dict(state)


def _check(name: str, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> Optimizer:
    """The optimizer that all schedules share. Raises ValueError or TypeError if they cannot be composed."""
    if len(schedulers) < 1:
        chained = " to be chained" if name == "ChainedScheduler" else ""
        raise ValueError(f"{name} expects at least one scheduler{chained}, but got no scheduler.")

    expected: Optimizer | None = optimizer
    for position, schedule in enumerate(schedulers):
        if not hasattr(schedule, "optimizer"):
            raise TypeError(f"{name} at index {position} should have `optimizer` as its attribute.")
        if isinstance(schedule, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to "
                f"be specified when calling `step`, but got one at index {position} in the given schedulers "
                "sequence."
            )

        expected = schedule.optimizer if expected is None else expected
        if schedule.optimizer != expected:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(schedule).__name__} at index {position} has {schedule.optimizer}, which is different "
                f"from {type(expected).__name__}."
            )

    assert expected is not None
    return expected


class ChainedScheduler(_ComposedLR):
    """Steps several schedules one after another, each scaling the result of the one before.

    Args:
        schedulers: the schedules, all of one optimizer
        optimizer: that optimizer; default None, taken from the first schedule

    Raises:
        ValueError: the schedules have different optimizers

    Example:
        >>> from torch_py.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = ChainedScheduler([ConstantLR(optimizer, 0.5, 1), ExponentialLR(optimizer, 0.5)])
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self.optimizer = _check("ChainedScheduler", schedulers, optimizer)
        self._schedulers = schedulers
        self._last_lr = values_of(self._schedulers[-1].optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Steps all schedules."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = values_of(self._schedulers[-1].optimizer, "lr")


class SequentialLR(_ComposedLR):
    """Uses several schedules one after another, each from its epoch 0 on.

    Args:
        optimizer: the optimizer whose groups are changed
        schedulers: the schedules, all of this optimizer
        milestones: the epochs at which the second and further schedules begin
        last_epoch: the epoch to go on from; -1 (default) begins

    Raises:
        ValueError: there is not one milestone less than schedules, or the optimizers differ

    Example:
        >>> from torch_py.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        >>> parts = [ConstantLR(optimizer, 0.5, 2), ExponentialLR(optimizer, 0.5)]
        >>> schedule = SequentialLR(optimizer, parts, milestones=[2])
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        _check("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number "
                f"of milestone points, but got number of schedulers {len(schedulers)} and the number of "
                f"milestones to be equal to {len(milestones)}"
            )

        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer

        # Each schedule made its first step when it was created; only that of the first one counts.
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])

        _undo(self)
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Steps the schedule of the current epoch."""
        self.last_epoch += 1
        position = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[position]
        if position > 0 and self._milestones[position - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()

        self._last_lr = schedule.get_last_lr()


def _undo(schedule: LRScheduler) -> None:
    """Takes back the first step of a schedule."""
    if isinstance(schedule, _ComposedLR):
        for part in schedule._schedulers:
            _undo(part)
    elif hasattr(schedule, "last_epoch"):
        schedule.last_epoch -= 1
